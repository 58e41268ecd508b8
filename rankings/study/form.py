"""What a chapter of the study is, and how its tables are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proportions import wilson

SEED = 1


class Chapter(NamedTuple):
    """`text` in Markdown; `plots`: file name -> SVG, to stand in `images` beside it."""

    text: str
    plots: dict[str, str] = {}


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def share(part: int, whole: int) -> str:
    """With its 95 % interval (Wilson 1927)."""
    low, high = wilson(part, whole)
    return f"{100 * part / whole:.2f} % ({100 * low:.2f} to {100 * high:.2f}; {part} of {whole})"
