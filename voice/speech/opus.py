"""Recordings as Opus in Ogg, a tenth of the size of WAV, by libopus in PyAV. Opus counts at 48 kHz inside; what is read
is 16 kHz again, as long as what was written."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np

from voice.speech.audio import RATE

BITS_PER_S = 24_000
"""Of speech; nothing is heard of the loss."""


def write_opus(path: Path, audio: bytes) -> None:
    """Write s16le as an Opus file that its owner alone may read."""
    import av

    with open(path, "wb", opener=partial(os.open, mode=0o600)) as raw, av.open(raw, "w", format="ogg") as file:
        stream = file.add_stream("libopus", rate=RATE)
        stream.layout, stream.bit_rate = "mono", BITS_PER_S
        frame = av.AudioFrame.from_ndarray(np.frombuffer(audio, "<i2").reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE
        for packet in (*stream.encode(frame), *stream.encode(None)):
            file.mux(packet)


def read_opus(path: Path) -> bytes:
    """The s16le in an Opus file, at 16 kHz. Raises ValueError for another file."""
    import av

    try:
        with av.open(path) as file:
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
            frames += resampler.resample(None)
    except (av.FFmpegError, IndexError) as error:
        raise ValueError(f"{path.name}: expected an Opus file: {error}") from error
    return b"".join(part.to_ndarray()[0].astype("<i2").tobytes() for part in frames)
