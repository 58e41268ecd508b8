"""Audio as the voice kind passes it on: 16 kHz, mono, signed 16-bit little-endian samples (`s16le`)."""

from __future__ import annotations

import os
import wave
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 16_000
"""Samples per second."""
SAMPLE_BYTES = 2
FRAME_MS = 20
"""What a call passes on at once."""
FRAME_SAMPLES = RATE * FRAME_MS // 1000
FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES
SILENT_FRAME = bytes(FRAME_BYTES)
QUIET = 32
"""The peak (of 32767, -60 dB) up to which audio is no sound: the noise floor of a line."""

Wave = NDArray[np.float32]
"""Samples within -1..1, of any rate."""


def milliseconds(samples: int) -> float:
    """The time [ms] that so many samples take."""
    return samples * 1000 / RATE


def samples_in(ms: float) -> int:
    """How many samples take this time [ms]."""
    return round(ms * RATE / 1000)


def to_wave(audio: bytes) -> Wave:
    """Samples of s16le within -1..1. Raises ValueError for half a sample."""
    if len(audio) % SAMPLE_BYTES:
        raise ValueError(f"expected whole samples of {SAMPLE_BYTES} bytes, got {len(audio)} bytes")
    return np.frombuffer(audio, "<i2").astype(np.float32) / np.float32(32768)


def to_bytes(wave_: Wave) -> bytes:
    """s16le of samples within -1..1; what is louder is clipped."""
    return (np.clip(wave_, -1.0, 1.0) * 32767).astype("<i2").tobytes()


def resampled(samples: Wave, rate: int) -> Wave:
    """Samples of another rate [Hz] at 16 kHz, by FFmpeg's resampler."""
    import av

    if rate == RATE or not samples.size:
        return samples
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1).astype(np.float32), format="flt", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    parts = [part.to_ndarray()[0] for part in (*resampler.resample(frame), *resampler.resample(None))]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)


def is_quiet(audio: bytes) -> bool:
    """Whether there is no sound in it (s16le)."""
    return not audio or int(np.abs(np.frombuffer(audio, "<i2").astype(np.int32)).max()) <= QUIET


def frames_of(audio: bytes) -> Iterator[bytes]:
    """The audio in frames of 20 ms; the last one is filled up with silence."""
    for start in range(0, len(audio), FRAME_BYTES):
        yield audio[start : start + FRAME_BYTES].ljust(FRAME_BYTES, b"\0")


def write_wav(path: Path, audio: bytes) -> None:
    """Write s16le as a WAV file that its owner alone may read."""
    with open(path, "wb", opener=partial(os.open, mode=0o600)) as raw, wave.open(raw, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_BYTES)
        file.setframerate(RATE)
        file.writeframes(audio)


def read_wav(path: Path) -> bytes:
    """The s16le in a WAV file. Raises ValueError unless it is 16 kHz, mono, 16 bits."""
    with wave.open(str(path), "rb") as file:
        found = (file.getframerate(), file.getnchannels(), file.getsampwidth() * 8)
        if found != (RATE, 1, 16):
            raise ValueError(
                f"{path.name}: expected 16000 Hz, 1 channel, 16 bits, got {found[0]}, {found[1]}, {found[2]}"
            )
        return file.readframes(file.getnframes())
