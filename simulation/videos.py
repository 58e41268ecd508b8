"""A film as MP4 (H.264), which every browser and messenger plays. Only workers import this."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av

from simulation.contracts import Image

QUALITY = {"crf": "24", "preset": "veryfast"}


def mp4(frames: Iterable[Image], size: tuple[int, int], rate: int) -> bytes:
    """`frames`: uint8 (height, width, 3), `rate` of them a second. `size`: width and height, both even."""
    with tempfile.NamedTemporaryFile(suffix=".mp4") as kept:  # what lies first in the file is written last
        _write(kept.name, frames, size, rate)
        return Path(kept.name).read_bytes()


def _write(path: str, frames: Iterable[Image], size: tuple[int, int], rate: int) -> None:
    with av.open(path, "w", format="mp4", options={"movflags": "+faststart"}) as film:
        stream = film.add_stream("libx264", rate=Fraction(rate), options=QUALITY)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1  # the machine's other work comes first
        for frame in frames:
            film.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        film.mux(stream.encode())
