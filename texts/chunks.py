"""Cutting an answer into chunks that are equally long, whoever writes it and however it comes."""

from __future__ import annotations

import math

CHARACTERS = 12
"""Of one chunk, in code points."""
SECONDS = 0.1
"""From one shown chunk to the next: 120 characters a second, quicker than people read."""


def chunks_of(text: str) -> list[str]:
    """Chunk 0, the start, is empty."""
    return ["", *(text[first : first + CHARACTERS] for first in range(0, len(text), CHARACTERS))]


def count(characters: int) -> int:
    """How many chunks after the first one so many characters make."""
    return math.ceil(characters / CHARACTERS)
