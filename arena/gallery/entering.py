"""Entering voted battles into the gallery."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from arena import kinds
from arena.drawings import asking
from arena.models import Attempt, AttemptStatus, Battle, GalleryEntry, Side, Turn, Vote, VoteChoice, turns_of
from arena.rules import sides_of, turn_status

NEAR = 0.6
"""From this progress on, a side that did not succeed came close."""
BATCH = 200
PREFERRED = {VoteChoice.LEFT_BETTER: Side.LEFT, VoteChoice.RIGHT_BETTER: Side.RIGHT}


def ask_to_enter(vote: Vote, **_: Any) -> None:
    """Have the drawing worker enter and draw the battle of a new vote, once the vote is stored. A message that is lost
    is made up for by whoever opens the battle's shared page, or at night."""
    transaction.on_commit(partial(asking.ask_for_battle, vote.battle_id), robust=True)


def enter(battle_id: str) -> None:
    """Enter a voted battle, unless it is in the gallery."""
    _enter(list(_missing().filter(battle__battle_id=battle_id)))


def enter_missing() -> int:
    """Enter voted battles of before the gallery, of a backup, or whose message was lost. Returns how many."""
    entered = last = 0
    while votes := list(_missing().filter(pk__gt=last)[:BATCH]):
        last = votes[-1].pk
        entered += _enter(votes)
    return entered


def _missing() -> QuerySet[Vote]:
    return Vote.objects.filter(gallery_entry=None).select_related("battle__session").order_by("pk")


def _enter(votes: Sequence[Vote]) -> int:
    turns = _turns_of(vote.battle for vote in votes)
    entries = [entry_of(vote, turns.get(vote.battle_id, [])) for vote in votes]
    return len(GalleryEntry.objects.bulk_create([each for each in entries if each], ignore_conflicts=True))


def _turns_of(battles: Iterable[Battle]) -> dict[str, list[Turn]]:
    by_battle: dict[str, list[Turn]] = {}
    of_them = Attempt.objects.filter(turn__battle__in=[battle.battle_id for battle in battles])
    for turn in turns_of(of_them.with_turns()):
        by_battle.setdefault(turn.battle_id, []).append(turn)
    return by_battle


def entry_of(vote: Vote, turns: Iterable[Turn]) -> GalleryEntry | None:
    """The entry of a vote; None for a battle without a turn that both sides completed."""
    judged = [turn for turn in turns if not turn.is_fork and turn_status(turn) == "completed"]
    if not judged:
        return None
    judged.sort(key=lambda turn: turn.seq)
    shown = sides_of(judged[-1])
    return GalleryEntry(
        vote=vote,
        kind=vote.kind,
        instruction=_public_words(judged[-1]),
        task=kinds.get(vote.kind).task_of(judged[-1].instruction, vote.battle.session.scene),
        left_model_id=vote.left_model_id,
        right_model_id=vote.right_model_id,
        left_episode=shown[Side.LEFT].episode_id,
        right_episode=shown[Side.RIGHT].episode_id,
        disagrees=_disagrees(vote, judged),
        near_miss=any(_is_near_miss(attempt) for turn in judged for attempt in turn.attempts.all()),
    )


def renew_words(battle_ids: list[str], **_: Any) -> None:
    """Write the instructions of these battles into the gallery again. Their previews, of another look now, are drawn
    anew when somebody asks for them."""
    votes = Vote.objects.filter(battle__battle_id__in=battle_ids).select_related("battle__session")
    turns = _turns_of(vote.battle for vote in votes)
    for vote in votes:
        if entry := entry_of(vote, turns.get(vote.battle_id, [])):
            GalleryEntry.objects.filter(pk=vote.pk).update(instruction=entry.instruction)


def _public_words(turn: Turn) -> str:
    """The instruction; "" while a moderator hides it."""
    return "" if turn.instruction_hidden_at else turn.instruction


def _disagrees(vote: Vote, turns: Sequence[Turn]) -> bool:
    """Whether the judge saw one side succeed more often, and the voter preferred the other or neither."""
    sides = [sides_of(turn) for turn in turns]
    if any(side.success is None for turn in sides for side in turn.values()):
        return False
    left, right = (sum(bool(turn[side].success) for turn in sides) for side in (Side.LEFT, Side.RIGHT))
    if left == right:
        return False
    return PREFERRED.get(VoteChoice(vote.vote)) != (Side.LEFT if left > right else Side.RIGHT)


def _is_near_miss(attempt: Attempt) -> bool:
    return (
        attempt.status == AttemptStatus.COMPLETED
        and attempt.success is False
        and attempt.progress is not None
        and attempt.progress >= NEAR
    )
