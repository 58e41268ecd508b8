"""What a cascade needs of speech, whatever provides it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from voice.speech.turns import Detector


class SpeechMissing(Exception):
    """The models of speech are not installed; the text says what to do."""


class Speech(NamedTuple):
    """Audio is s16le at 16 kHz. `text_of` and `audio_of` take a while, and are called on threads."""

    new_detector: Callable[[], Detector]
    """A detector of speech for one listener."""
    text_of: Callable[[bytes], str]
    """What is said in an utterance; "" for nothing."""
    audio_of: Callable[[str], bytes]
    """A sentence spoken."""
