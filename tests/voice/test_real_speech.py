"""The models of `make install-voice`: what is spoken is understood, and a whole call is held by voice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from tests.voice.calls import SCENARIOS
from voice.agents.local import Cascade
from voice.agents.rules import Rules
from voice.calls.caller import ScriptedCaller
from voice.calls.holding import hold
from voice.calls.notes import evaluated
from voice.scenarios.slots import plain
from voice.speech import models
from voice.speech.audio import samples_in
from voice.speech.parts import Speech, SpeechMissing
from voice.speech.turns import Heard, Listener, spans

Result = TypeVar("Result")


def text_of(speech: Speech, audio: bytes) -> str:
    return asyncio.run(_awaited(speech.text_of(audio)))


def audio_of(speech: Speech, text: str) -> bytes:
    return asyncio.run(_awaited(speech.audio_of(text)))


async def _awaited(result: Awaitable[Result]) -> Result:
    return await result


@pytest.fixture(scope="module")
def speech() -> Speech:
    return models.load_speech()


def test_what_is_spoken_is_heard_and_understood(speech: Speech) -> None:
    words = "I would like to book a haircut on Thursday."
    silence = bytes(2 * samples_in(1000))
    listener = Listener(speech.new_detector())
    moments = list(listener.hear(silence + audio_of(speech, words) + silence))
    assert [each.what for each in moments if each.what in (Heard.BEGAN, Heard.ENDED)] == [Heard.BEGAN, Heard.ENDED]
    assert plain(text_of(speech, moments[-1].audio)) == plain(words)


def test_a_spelled_number_is_read(speech: Speech) -> None:
    said = text_of(speech, audio_of(speech, "My order number is A, 7, 4, 2, 9."))
    assert SCENARIOS["order_status"].slots["order"].mentions(said) == ["A7429"]


def test_the_same_words_sound_the_same(speech: Speech) -> None:
    assert audio_of(speech, "Good morning.") == audio_of(speech, "Good morning.")


def test_silence_and_hum_are_no_speech(speech: Speech) -> None:
    hum = b"".join(int(2000 * (at // 80 % 2)).to_bytes(2, "little", signed=True) for at in range(32_000))
    assert spans(bytes(64_000), speech.new_detector()) == []
    assert spans(hum, speech.new_detector()) == []


def test_a_missing_package_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SpeechMissing, match=re.escape("hibari-tts: not installed; run `make install-voice`")):
        models.check_installed()


def test_what_a_caller_may_choose_from_is_heard_better(speech: Speech) -> None:
    audio = audio_of(speech, "Yes, a nut allergy.")
    expected = SCENARIOS["restaurant"].expected_words
    assert expected == "nut allergy, vegetarian, gluten free, none"
    assert "nut" not in plain(text_of(speech, audio)).split()
    assert plain(asyncio.run(_awaited(speech.text_of(audio, expected)))) == "yes a nut allergy"


@pytest.mark.slow
def test_a_whole_call_by_voice(speech: Speech) -> None:
    scenario = SCENARIOS["order_status"]
    held = asyncio.run(hold(Cascade(speech, Rules), ScriptedCaller(scenario, speech), scenario))
    transcript, metrics = evaluated(scenario, held, speech.new_detector)
    assert (metrics.joint_goal_accuracy, metrics.task_success, metrics.containment) == (1.0, True, True), transcript
    assert metrics.latency.p50_ms is not None
