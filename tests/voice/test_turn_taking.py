"""A listener knows when somebody begins, pauses and has finished."""

from __future__ import annotations

import pytest

from tests.voice.telegraph import TELEGRAPH, spoken, understood
from voice.speech.audio import frames_of, samples_in
from voice.speech.turns import Heard, Listener, Moment, Span, TurnTaking, spans


def silence(ms: float) -> bytes:
    return bytes(2 * samples_in(ms))


def moments(audio: bytes, taking: TurnTaking | None = None) -> list[Moment]:
    listener = Listener(TELEGRAPH.new_detector(), taking)
    return [moment for frame in frames_of(audio) for moment in listener.hear(frame)]


def test_an_utterance_begins_pauses_and_ends() -> None:
    heard = moments(silence(1000) + spoken("a" * 25) + silence(1500))
    assert [each.what for each in heard] == [Heard.BEGAN, Heard.PAUSED, Heard.ENDED]
    assert heard[0].at_ms == pytest.approx(1000, abs=32)
    assert heard[2].at_ms == pytest.approx(2000, abs=32)


def test_the_audio_of_an_utterance_is_whole() -> None:
    heard = moments(silence(1000) + spoken("Hello there.") + silence(1500))
    assert understood(heard[-1].audio) == "Hello there."
    assert len(heard[-1].audio) < len(silence(480 + 320 + 800 + 100))


def test_a_pause_within_an_utterance_does_not_end_it() -> None:
    heard = moments(silence(500) + spoken("Thank you.") + silence(600) + spoken("And then?") + silence(1500))
    assert [each.what for each in heard] == [Heard.BEGAN, Heard.PAUSED, Heard.WENT_ON, Heard.PAUSED, Heard.ENDED]
    assert understood(heard[-1].audio) == "Thank you.And then?"


def test_two_utterances_do_not_share_audio() -> None:
    heard = moments(silence(500) + spoken("One.." * 4) + silence(900) + spoken("Two.." * 4) + silence(1500))
    ends = [each for each in heard if each.what is Heard.ENDED]
    assert [understood(each.audio) for each in ends] == ["One.." * 4, "Two.." * 4]


def test_a_click_is_no_utterance() -> None:
    assert moments(silence(500) + spoken("a") + silence(1500)) == []


def test_who_waits_less_hears_the_end_earlier() -> None:
    audio = silence(500) + spoken("Thank you.") + silence(600) + spoken("And then?") + silence(1500)
    ends = [each for each in moments(audio, TurnTaking(end_ms=500.0)) if each.what is Heard.ENDED]
    assert len(ends) == 2


def test_the_utterances_of_a_recording() -> None:
    audio = silence(1000) + spoken("a" * 25) + silence(1000) + spoken("bb" * 6)
    found = spans(audio, TELEGRAPH.new_detector())
    assert found == [
        Span(pytest.approx(1000, abs=32), pytest.approx(2000, abs=32)),
        Span(pytest.approx(3000, abs=32), 3480),
    ]  # type: ignore[arg-type]


def test_the_size_of_pieces_makes_no_difference() -> None:
    audio = silence(700) + spoken("Hello there, who is it?") + silence(1500)
    listener = Listener(TELEGRAPH.new_detector())
    assert list(listener.hear(audio)) == moments(audio)
