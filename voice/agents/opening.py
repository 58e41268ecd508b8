"""From an agent's row to its adapter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.conf import settings

from voice.agents import retell, vapi
from voice.agents.base import Agent
from voice.agents.hosted import Account
from voice.agents.kinds import LANGUAGE, RETELL, VAPI, check_config
from voice.agents.language import LanguageModel, Server
from voice.agents.local import Cascade, Manners
from voice.agents.mind import Mind
from voice.agents.rules import Rules
from voice.models import VoiceAgent
from voice.scenarios.model import Scenario
from voice.speech.parts import Speech
from voice.speech.turns import TurnTaking


def adapter_of(row: VoiceAgent, speech: Speech) -> Agent:
    """The adapter for one conversation with this agent. Raises ValueError for a row that is set up wrongly."""
    check_config(row.provider, row.config)
    about = settings.VOICE
    if row.provider == VAPI:
        return vapi.Vapi(Account(about["vapi_key"], row.config, about["vapi_url"] or vapi.ADDRESS))
    if row.provider == RETELL:
        return retell.Retell(Account(about["retell_key"], row.config, about["retell_url"] or retell.ADDRESS))
    taking = TurnTaking(end_ms=float(row.config.get("end_ms", TurnTaking.end_ms)))
    return Cascade(speech, _mind(row), Manners(taking))


def _mind(row: VoiceAgent) -> Callable[[Scenario], Mind]:
    if row.config["mind"] != LANGUAGE:
        return Rules
    return partial(LanguageModel, server=server_of(row))


def server_of(row: VoiceAgent | None = None) -> Server:
    """The language model of the settings, used as this row says."""
    about, config = settings.VOICE, row.config if row else {}
    return Server(
        about["model_url"],
        about["model"],
        about["model_key"],
        tools=bool(config.get("tools", True)),
        extra=dict(config.get("extra_body", {})),
    )
