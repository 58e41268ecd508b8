"""How both sides of voted battles look: sums over the conversations that were voted on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from arena.kinds import Look
from arena.models import Side
from texts.models import TEXT, Again, Answer

COLUMNS = ("attempt__turn__battle__vote__pk", "attempt__turn_id", "attempt__side")
ABOUT = ("attempt__turn__prompt__category", "attempt__turn__prompt__language")
Row = tuple[Any, ...]


def of_votes(measures: Sequence[str]) -> Iterator[Look]:
    """Of each voted battle whose answers were measured. `measures`: columns of Answer."""
    rows = (
        Answer.objects.filter(attempt__turn__battle__vote__kind=TEXT, attempt__turn__is_fork=False)
        .order_by("attempt__turn__battle__vote__pk", "attempt__turn__seq", "attempt__side")
        .values_list(*COLUMNS, *ABOUT, *measures)
    )
    replaced = set(Again.objects.order_by().values_list("replaces_id", flat=True))
    for vote, own in itertools.groupby(rows.iterator(chunk_size=20_000), key=lambda row: row[0]):
        look = _look(vote, [row for row in own if row[1] not in replaced])
        if look is not None:
            yield look


def _look(vote: int, rows: Sequence[Row]) -> Look | None:
    """None where an answer was not measured. A turn that one side alone answered is no part of the conversation."""
    turns = [list(both) for _, both in itertools.groupby(rows, key=lambda row: row[1])]
    whole = [row for both in turns if len(both) == len(Side) for row in both]
    if not whole or any(None in row[5:] for row in whole):
        return None
    left, right = (
        [float(sum(column)) for column in zip(*(row[5:] for row in whole if row[2] == side), strict=True)]
        for side in Side
    )
    category, language = whole[0][3:5]
    return Look(vote, {"category": category or "", "language": language or ""}, left, right)
