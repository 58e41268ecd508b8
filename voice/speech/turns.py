"""When a speaker begins, pauses and has finished, from audio that comes in pieces of any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from voice.speech.audio import RATE, SAMPLE_BYTES, milliseconds, samples_in

WINDOW = 512
"""Samples that the detector judges at once, 32 ms: what Silero takes."""
WINDOW_BYTES = WINDOW * SAMPLE_BYTES
Detector = Callable[[bytes], float]
"""The probability of speech (0..1) in a window of s16le. It may keep a state from window to window."""


class Heard(StrEnum):
    BEGAN = "began"
    """Speech for `onset_ms`: a breath or a click is shorter."""
    PAUSED = "paused"
    """Silence for `pause_ms`: perhaps the end."""
    WENT_ON = "went on"
    """Speech after a pause."""
    ENDED = "ended"
    """Silence for `end_ms`."""


class Moment(NamedTuple):
    """`at_ms`: of the first or the last sample of speech, on the clock of the audio. `audio`: the utterance up to now,
    with a little of the silence around it; empty for BEGAN and WENT_ON."""

    what: Heard
    at_ms: float
    audio: bytes = b""


@dataclass(frozen=True)
class TurnTaking:
    """How a listener takes turns. Times [ms]."""

    onset_ms: float = 96.0
    pause_ms: float = 320.0
    end_ms: float = 800.0
    """0.5 s cut a caller off between two sentences; 0.8 s did not."""
    threshold: float = 0.5
    """The probability from which a window is speech; below `threshold - HYSTERESIS` it is silence."""


HYSTERESIS = 0.15
LEAD = samples_in(320)
"""Samples before the onset that belong to an utterance: first consonants are quiet."""


class Listener:
    """Turns audio into moments. Feed it everything that is heard, silence included: its clock counts samples."""

    def __init__(self, detector: Detector, taking: TurnTaking | None = None) -> None:
        self._detector = detector
        self._taking = taking or TurnTaking()
        self._rest = b""
        self._at = 0
        """Samples judged so far."""
        self._kept = bytearray()
        """The utterance, or the lead before one."""
        self._loud = False
        self._onset = self._last_speech = 0
        self._speaking = self._paused = False

    @property
    def is_speaking(self) -> bool:
        """Whether an utterance has begun and not ended; a pause belongs to it."""
        return self._speaking

    @property
    def spoken_ms(self) -> float:
        """How long the utterance is up to its last speech; 0 while nobody speaks."""
        return milliseconds(self._last_speech - self._onset) if self._speaking else 0.0

    def hear(self, audio: bytes) -> Iterator[Moment]:
        """Take more audio (s16le) and tell what it decided."""
        self._rest += audio
        while len(self._rest) >= WINDOW_BYTES:
            window, self._rest = self._rest[:WINDOW_BYTES], self._rest[WINDOW_BYTES:]
            yield from self._judge(window)

    def _judge(self, window: bytes) -> Iterator[Moment]:
        threshold = self._taking.threshold - (HYSTERESIS if self._loud else 0.0)
        loud = self._detector(window) >= threshold
        if loud and not self._loud and not self._speaking:
            self._onset = self._at
        self._loud = loud
        self._kept += window
        self._at += WINDOW
        if loud:
            self._last_speech = self._at
            yield from self._on_speech()
        elif self._speaking:
            yield from self._on_silence()
        if not self._speaking:
            del self._kept[: -(LEAD + (self._at - self._onset if loud else 0)) * SAMPLE_BYTES]

    def _on_speech(self) -> Iterator[Moment]:
        if not self._speaking and milliseconds(self._at - self._onset) >= self._taking.onset_ms:
            self._speaking = True
            yield Moment(Heard.BEGAN, milliseconds(self._onset))
        elif self._paused:
            yield Moment(Heard.WENT_ON, milliseconds(self._at - WINDOW))
        self._paused = False

    def _on_silence(self) -> Iterator[Moment]:
        silent = milliseconds(self._at - self._last_speech)
        if silent >= self._taking.end_ms:
            self._speaking = self._paused = False
            yield Moment(Heard.ENDED, milliseconds(self._last_speech), bytes(self._kept))
            self._kept.clear()
        elif silent >= self._taking.pause_ms and not self._paused:
            self._paused = True
            yield Moment(Heard.PAUSED, milliseconds(self._last_speech), bytes(self._kept))


class Span(NamedTuple):
    """One utterance in a recording [ms]."""

    start_ms: float
    end_ms: float


def spans(audio: bytes, detector: Detector, taking: TurnTaking | None = None) -> list[Span]:
    """Every utterance in a whole recording (s16le). One that the recording cuts off ends with it."""
    found, began = [], None
    listener = Listener(detector, taking)
    for moment in listener.hear(audio):
        if moment.what is Heard.BEGAN:
            began = moment.at_ms
        elif moment.what is Heard.ENDED and began is not None:
            found.append(Span(began, moment.at_ms))
            began = None
    if began is not None:
        found.append(Span(began, len(audio) / SAMPLE_BYTES * 1000 / RATE))
    return found
