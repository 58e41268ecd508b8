"""`manage.py call SCENARIO --agent ID --caller script|model`: hold a whole conversation by synthetic speech."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from simulation.catalogue_rows import CatalogueError
from voice import seeding
from voice.agents.base import ENDS, AgentFailed
from voice.agents.kinds import LANGUAGE
from voice.agents.language import reachable
from voice.agents.opening import adapter_of, server_of
from voice.calls.caller import ScriptedCaller
from voice.calls.holding import Held, hold
from voice.calls.keeping import keep_call, keep_recordings, metrics_json
from voice.calls.model_caller import CallerFailed, ModelCaller
from voice.calls.notes import evaluated
from voice.evaluation.measuring import Metrics
from voice.evaluation.transcript import Transcript
from voice.models import Conversation, ScenarioRow, VoiceAgent
from voice.scenarios.model import Scenario
from voice.speech.models import load_speech
from voice.speech.parts import Speech, SpeechMissing

CALLERS = [Conversation.Caller.SCRIPT, Conversation.Caller.MODEL]


class Command(BaseCommand):
    help = (
        "Hold a whole conversation with a voice agent by synthetic speech: the caller speaks and listens through "
        "models, as people do through microphone and headphones. Writes both recordings, the transcript and what is "
        "computed of it. Belongs to no battle, and never counts as a vote."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", help="its id, such as haircut; `all` for every one")
        parser.add_argument("--agent", required=True, metavar="ID", help="a voice agent, such as local-rules")
        parser.add_argument(
            "--caller",
            choices=[str(each) for each in CALLERS],
            default="script",
            help="whose words the caller says: the scenario's script's, or those of the model of ARENA_VOICE_MODEL",
        )
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            seeding.seed()
            agent, scenarios = _agent(options["agent"]), _scenarios(options["scenario"])
            calls = [self._call(agent, row, options["caller"], options["json"]) for row in scenarios]
        except DatabaseError as error:
            raise CommandError(f"the database cannot be used; run `manage.py prepare`: {error}") from error
        except (SpeechMissing, AgentFailed, CallerFailed, CatalogueError, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"calls": calls}))
        if any(call["ended"] == "agent_failed" for call in calls):
            raise SystemExit(1)

    def _call(self, agent: VoiceAgent, row: ScenarioRow, caller: str, as_json: bool) -> dict[str, Any]:
        scenario, speech = row.read(), load_speech()
        if not as_json:
            self.stdout.write(f"{scenario.name} ({scenario.difficulty}), with {agent.name}")
        held = asyncio.run(_held(agent, scenario, speech, caller))
        transcript, metrics = evaluated(scenario, held, speech.new_detector)
        kept = keep_call(agent, row, transcript, metrics, keep_recordings(held), caller)
        if not as_json:
            self._tell(transcript, metrics, held, kept)
        return _json(transcript, metrics, held, kept)

    def _tell(self, transcript: Transcript, metrics: Metrics, held: Held, kept: Conversation) -> None:
        for line in transcript.lines:
            waited = f"  (after {line.latency_ms:.0f} ms)" if line.latency_ms is not None else ""
            heard = f"  [heard: {line.heard}]" if line.heard and line.heard != line.text else ""
            words = f"{line.text}{' -' if line.cut else ''}{heard}{waited}"
            self.stdout.write(f"{line.start_ms / 1000:6.1f} s  {line.role:6}  {words}")
        for use in transcript.tools:
            came = "done" if use.done else "refused"
            self.stdout.write(f"{use.at_ms / 1000:6.1f} s  {use.tool} {json.dumps(use.arguments)}: {came}")
        self.stdout.write(f"Ended after {held.duration_s:.0f} s: {ENDS[held.ended]}{_in_brackets(held.story)}.")
        self.stdout.write(_summary(metrics))
        self.stdout.write(f"Recordings: {_folder() / kept.user_audio_path}, {_folder() / kept.agent_audio_path}\n")


async def _held(agent: VoiceAgent, scenario: Scenario, speech: Speech, caller: str) -> Held:
    if agent.config.get("mind") == LANGUAGE:
        await reachable(server_of(agent))
    return await hold(adapter_of(agent, speech), await _caller(caller, scenario, speech), scenario)


async def _caller(caller: str, scenario: Scenario, speech: Speech) -> ScriptedCaller:
    if caller != Conversation.Caller.MODEL:
        return ScriptedCaller(scenario, speech)
    server = server_of()
    await reachable(server)
    return ModelCaller(scenario, speech, server)


def _agent(agent_id: str) -> VoiceAgent:
    found = VoiceAgent.objects.filter(pk=agent_id).first()
    if found is None:
        known = ", ".join(VoiceAgent.objects.values_list("pk", flat=True))
        raise CommandError(f"unknown agent {agent_id!r}; known are {known}")
    return found


def _scenarios(scenario_id: str) -> list[ScenarioRow]:
    rows = list(ScenarioRow.objects.all() if scenario_id == "all" else ScenarioRow.objects.filter(pk=scenario_id))
    if not rows:
        known = ", ".join(ScenarioRow.objects.values_list("pk", flat=True))
        raise CommandError(f"unknown scenario {scenario_id!r}; known are all, {known}")
    return rows


def _summary(metrics: Metrics) -> str:
    waits = {"average": metrics.latency.average_ms, "p50": metrics.latency.p50_ms, "p95": metrics.latency.p95_ms}
    times = ", ".join(f"{name} {value:.0f} ms" for name, value in waits.items() if value is not None)
    slots = {name: slot for name, slot in metrics.slots.items() if not slot.right}
    wrong = ", ".join(f"{name} is {slot.found!r}, not {slot.expected!r}" for name, slot in slots.items())
    unmet = ", ".join(name for name, is_met in metrics.criteria.items() if not is_met)
    return (
        f"Waited for an answer: {times or 'there was none'}.\n"
        f"Joint goal accuracy {metrics.joint_goal_accuracy:g}{_in_brackets(wrong)}; criteria "
        f"{'all met' if not unmet else f'not met: {unmet}'}; success {_yes(metrics.task_success)}; contained "
        f"{_yes(metrics.containment)}; {metrics.total_turns} turns, done after {metrics.turns_to_completion or '-'}."
    )


def _yes(true: bool) -> str:
    return "yes" if true else "no"


def _in_brackets(words: str) -> str:
    return f" ({words})" if words else ""


def _json(transcript: Transcript, metrics: Metrics, held: Held, kept: Conversation) -> dict[str, Any]:
    paths = [str(_folder() / path) for path in (kept.user_audio_path, kept.agent_audio_path)]
    return {
        "conversation": kept.pk,
        "scenario": kept.scenario_id,
        "agent": kept.agent_id,
        "ended": held.ended,
        "story": held.story,
        "duration_s": round(held.duration_s, 2),
        "late_ms": round(held.late_ms),
        "recordings": paths,
        **transcript.json(),
        **metrics_json(metrics),
    }


def _folder() -> Path:
    return Path(settings.VOICE["recordings"])
