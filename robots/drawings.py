"""What workers draw of recorded rollouts. Only the drawing worker imports this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulation import pictures

DRAWN: Mapping[str, Callable[[Mapping[str, Any]], bytes]] = {
    "picture.webp": pictures.still,
    "strip.webp": pictures.strip,
    "video.mp4": pictures.video,
}


def draw(name: str, document: Mapping[str, Any]) -> bytes:
    return DRAWN[name](document)
