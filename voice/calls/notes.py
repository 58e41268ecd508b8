"""A held call as evaluation reads it: one transcript of both sides, with times on the clock of the recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from voice.calls.caller import Noted
from voice.calls.holding import Held
from voice.evaluation.measuring import Metrics, measure
from voice.evaluation.transcript import Line, Role, Transcript
from voice.scenarios.model import Scenario
from voice.speech.turns import Detector, Span, TurnTaking, spans

FINE = TurnTaking(end_ms=400.0, pause_ms=200.0)
"""For recordings: nobody waits for the end of an utterance here, so shorter pauses part them."""


def evaluated(scenario: Scenario, held: Held, new_detector: Callable[[], Detector]) -> tuple[Transcript, Metrics]:
    """The transcript of a call and what is computed of it. Takes about a tenth of the call's time."""
    return judged(scenario, held, *speech_in(held, new_detector))


def speech_in(held: Held, new_detector: Callable[[], Detector]) -> tuple[list[Span], list[Span]]:
    """Where the caller and where the agent speaks in their recordings."""
    caller, agent = (spans(bytes(audio), new_detector(), FINE) for audio in (held.caller_audio, held.agent_audio))
    return caller, agent


def judged(scenario: Scenario, held: Held, caller: Sequence[Span], agent: Sequence[Span]) -> tuple[Transcript, Metrics]:
    """The same, where it is known who speaks when."""
    transcript = transcript_of(held, caller, agent)
    return transcript, measure(scenario, transcript, _merged(held, caller), agent, held.first_audio_ms)


def transcript_of(held: Held, caller: Sequence[Span], agent: Sequence[Span]) -> Transcript:
    """Both sides in order. What each recogniser made of the other side is put beside it, in order."""
    understood = _by_line([line.start_ms for line in held.caller_lines], held.understood)
    heard = _by_line([line.start_ms for line in held.agent_lines], held.heard)
    said = [
        Line(Role.CALLER, line.text, *_within(caller, line.start_ms, line.end_ms), words)
        for line, words in zip(held.caller_lines, understood, strict=True)
    ]
    answers = [
        Line(Role.AGENT, line.text, *_within(agent, line.start_ms, line.end_ms), words, None, line.cut)
        for line, words in zip(held.agent_lines, heard, strict=True)
    ]
    lines = sorted([*said, *answers], key=lambda line: line.start_ms)
    return Transcript([_timed(lines, at) for at in range(len(lines))], held.tools, held.ended, held.duration_s)


def _by_line(starts_ms: Sequence[float], notes: Sequence[Noted]) -> list[str]:
    """What was understood of each line: that which was noted after it began and before the next one did."""
    ends = [*starts_ms[1:], float("inf")]
    return [
        " ".join(note.text for note in notes if start < note.at_ms <= end)
        for start, end in zip(starts_ms, ends[: len(starts_ms)], strict=True)
    ]


def _within(found: Sequence[Span], start_ms: float, end_ms: float) -> tuple[float, float]:
    """The first and last moment of speech in a stretch of audio; the stretch where there is none."""
    inside = [span for span in found if span.start_ms < end_ms and span.end_ms > start_ms]
    return (max(inside[0].start_ms, start_ms), min(inside[-1].end_ms, end_ms)) if inside else (start_ms, end_ms)


def _merged(held: Held, found: Sequence[Span]) -> list[Span]:
    """The caller's utterances, one per line: a pause within a line is no end."""
    return [Span(*_within(found, line.start_ms, line.end_ms)) for line in held.caller_lines]


def _timed(lines: Sequence[Line], at: int) -> Line:
    """An answer with the time that the caller waited for it."""
    line, before = lines[at], lines[at - 1] if at else None
    if line.role is not Role.AGENT or before is None or before.role is not Role.CALLER or before.end_ms > line.start_ms:
        return line
    return Line(line.role, line.text, line.start_ms, line.end_ms, line.heard, line.start_ms - before.end_ms, line.cut)
