"""Speech without models: every character is 40 ms of one loudness, so that hearing is exact and quick to compute. The
cascade, the caller and the call around it are the real ones."""

from __future__ import annotations

import numpy as np

from voice.speech.audio import FRAME_SAMPLES
from voice.speech.parts import Speech
from voice.speech.turns import Detector

SAMPLES = 2 * FRAME_SAMPLES
"""Of a character."""
STEP = 200
"""Loudness of a character: its code times this."""
QUIET = 100


def spoken(text: str) -> bytes:
    """s16le of a text in ASCII."""
    codes = np.frombuffer(text.encode("ascii"), np.uint8).astype("<i2") * STEP
    return np.repeat(codes, SAMPLES).astype("<i2").tobytes()


def understood(audio: bytes) -> str:
    """The text in an utterance. Silence in the middle is left out, as between two sentences."""
    samples = np.frombuffer(audio, "<i2")
    loud = samples[np.abs(samples) > QUIET]
    codes = loud[SAMPLES // 2 :: SAMPLES] // STEP
    return bytes(codes.astype(np.uint8)).decode("ascii")


def detector() -> Detector:
    return lambda window: float(np.abs(np.frombuffer(window, "<i2")).max() > QUIET)


async def _hear(audio: bytes, expected: str = "") -> str:
    return understood(audio)


async def _speak(text: str) -> bytes:
    return spoken(text)


TELEGRAPH = Speech(detector, _hear, _speak)
