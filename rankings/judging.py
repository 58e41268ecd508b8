"""Which votes count: each is judged alone, against its battle and the registry, and marked with what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from arena.models import Battle, ProcessingStatus, Vote, VoteChoice
from policies.models import Policy

BATCH = 1000


def judge(votes: QuerySet[Vote]) -> tuple[int, int]:
    """Mark each vote processed or failed; returns how many of each. A faulty vote fails alone."""
    now = timezone.now()
    processed = failed = 0
    for batch in batches(votes.order_by("voted_at", "id")):
        good, bad = [], []
        for vote, fault in judged(batch):
            if fault is None:
                good.append(vote.pk)
            else:
                vote.processing_status, vote.processed_at, vote.error_message = ProcessingStatus.FAILED, now, fault
                bad.append(vote)
        changed = Vote.objects.filter(pk__in=good).exclude(processing_status=ProcessingStatus.PROCESSED)
        changed.update(processing_status=ProcessingStatus.PROCESSED, processed_at=now, error_message=None)
        Vote.objects.bulk_update(bad, ["processing_status", "processed_at", "error_message"])
        processed, failed = processed + len(good), failed + len(bad)
    return processed, failed


def batches(votes: QuerySet[Vote]) -> Iterator[list[Vote]]:
    """The votes in their order, a thousand at a time."""
    keys = list(votes.values_list("pk", flat=True))
    for first in range(0, len(keys), BATCH):
        found = Vote.objects.in_bulk(keys[first : first + BATCH])
        yield [found[key] for key in keys[first : first + BATCH]]


def judged(votes: Sequence[Vote]) -> Iterator[tuple[Vote, str | None]]:
    """Each vote with what is wrong with it, or None."""
    battles = Battle.objects.select_related("session").in_bulk(
        [vote.battle_id for vote in votes], field_name="battle_id"
    )
    policies = set(Policy.objects.values_list("pk", flat=True))
    for vote in votes:
        yield vote, _fault(vote, battles.get(vote.battle_id), policies)


def _fault(vote: Vote, battle: Battle | None, policies: set[str]) -> str | None:
    if vote.vote not in VoteChoice.values:
        return f"unknown vote {vote.vote!r}; known: {', '.join(VoteChoice.values)}"
    for policy in (vote.left_model_id, vote.right_model_id):
        if policy not in policies:
            return f"policy {policy!r} is not in the registry"
    if vote.left_model_id == vote.right_model_id:
        return f"policy {vote.left_model_id!r} against itself"
    if battle is None:
        return f"battle {vote.battle_id!r} does not exist"
    for name, copy, original in (
        ("session_id", vote.session_id, battle.session_id),
        ("left_model_id", vote.left_model_id, battle.left_model_id),
        ("right_model_id", vote.right_model_id, battle.right_model_id),
        ("robot_id", vote.robot_id, battle.session.robot_id),
        ("scene_id", vote.scene_id, battle.session.scene_id),
    ):
        if copy != original:
            return f"the vote says {name} {copy!r}, its battle {original!r}"
    return None
