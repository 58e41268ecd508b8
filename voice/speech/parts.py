"""What a cascade needs of speech, whatever provides it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from voice.speech.turns import Detector


class SpeechMissing(Exception):
    """The models of speech are not installed; the text says what to do."""


class Recogniser(Protocol):
    def __call__(self, audio: bytes, expected: str = "") -> Awaitable[str]:
        """What is said in an utterance; "" for nothing. `expected`: words that are likely in it."""
        ...


class Speech(NamedTuple):
    """Audio is s16le at 16 kHz. `text_of` and `audio_of` may take a while, in which others go on."""

    new_detector: Callable[[], Detector]
    """A detector of speech for one listener."""
    text_of: Recogniser
    audio_of: Callable[[str], Awaitable[bytes]]
    """A sentence spoken."""
