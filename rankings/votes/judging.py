"""Checks of votes: each is compared with its battle and the registry, and marked with its fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

from arena.models import Contestant, ProcessingStatus, Vote, VoteChoice

BATCH = 1000
COPIES = {
    "kind": "battle__session__kind",
    "session_id": "battle__session_id",
    "left_model_id": "battle__left_model_id",
    "right_model_id": "battle__right_model_id",
    "setting": "battle__session__setting",
    "scene": "battle__session__scene",
}
"""Column of a vote -> the column that it was copied from."""


class Judgement(NamedTuple):
    """Primary keys of votes without a fault, and of faulty ones with what is wrong."""

    processed: list[int]
    failed: dict[int, str]


def judge(votes: QuerySet[Vote]) -> Judgement:
    """Compare each vote with its battle and the registry. A faulty vote does not affect others. Reads only."""
    faults = {key: fault for batch in judged(votes) for key, fault in batch}
    failed = {key: fault for key, fault in faults.items() if fault is not None}
    return Judgement([key for key in faults if key not in failed], failed)


def mark(found: Judgement) -> None:
    """Mark each vote processed or failed."""
    now = timezone.now()
    for first in range(0, len(found.processed), BATCH):
        good = Vote.objects.filter(pk__in=found.processed[first : first + BATCH])
        changed = good.exclude(processing_status=ProcessingStatus.PROCESSED)
        changed.update(processing_status=ProcessingStatus.PROCESSED, processed_at=now, error_message=None)
    bad = [
        Vote(pk=key, processing_status=ProcessingStatus.FAILED, processed_at=now, error_message=fault)
        for key, fault in found.failed.items()
    ]
    Vote.objects.bulk_update(bad, ["processing_status", "processed_at", "error_message"], batch_size=BATCH)


def judged(votes: QuerySet[Vote]) -> Iterator[list[tuple[int, str | None]]]:
    """(primary key, fault or None) of each vote, BATCH at a time."""
    contestants = dict(Contestant.objects.values_list("pk", "kind"))
    keys = list(votes.order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(keys), BATCH):
        batch = keys[first : first + BATCH]
        columns = Vote.objects.filter(pk__in=batch).values("pk", "vote", *COPIES.keys(), *COPIES.values())
        rows = {row["pk"]: row for row in columns}
        yield [(key, fault(rows.get(key), contestants)) for key in batch]


def fault(row: Mapping[str, Any] | None, contestants: Mapping[str, str]) -> str | None:
    """What is wrong with a vote. `row`: None where its battle or session is gone; `contestants`: id -> kind."""
    if row is None:
        return "its battle does not exist"
    if row["vote"] not in VoteChoice.values:
        return f"unknown vote {row['vote']!r}; known: {', '.join(VoteChoice.values)}"
    for policy in (row["left_model_id"], row["right_model_id"]):
        if policy not in contestants:
            return f"policy {policy!r} is not in the registry"
        if contestants[policy] != row["kind"]:
            return f"policy {policy!r} is of the kind {contestants[policy]!r}, the vote of {row['kind']!r}"
    if row["left_model_id"] == row["right_model_id"]:
        return f"policy {row['left_model_id']!r} against itself"
    for copy, original in COPIES.items():
        if row[copy] != row[original]:
            return f"the vote says {copy} {row[copy]!r}, its battle {row[original]!r}"
    return None
