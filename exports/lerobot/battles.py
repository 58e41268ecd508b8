"""The episodes of voted battles, for a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from arena.actions.owners import REMOVED
from arena.gallery.entering import PREFERRED
from arena.kinds import Kind
from arena.models import AttemptStatus, Side, Turn, Vote, VoteChoice
from arena.store import get_store
from exports import publishable
from exports.lerobot.dataset import Episode
from exports.reading import with_turns

SAME = ("battle_id", "turn_id", "side", "model_id", "policy_revision", "start_hash", "success", "progress", "seed")


def episodes_of(kind: Kind, robot_id: str, scene_id: str, only: Collection[str] = ()) -> Iterator[Episode]:
    """Of all battles in this world that may leave, or of `only` those named; forks and failed attempts are left out.

    Raises StoreUnavailable.
    """
    votes = publishable.votes_of(kind).filter(setting=robot_id, scene=scene_id)
    votes = votes.filter(battle__battle_id__in=only) if only else votes
    for vote, turns in with_turns(votes):
        for turn in turns:
            if turn.instruction != REMOVED:
                yield from _of_turn(vote, turn)


def _of_turn(vote: Vote, turn: Turn) -> Iterator[Episode]:
    for attempt in turn.attempts.all():
        if attempt.status != AttemptStatus.COMPLETED:
            continue
        document = get_store().get(attempt.episode_id)
        if document is not None:
            about: dict[str, Any] = {name: document.get(name) for name in SAME}
            yield Episode(
                document, {**about, "episode_id": attempt.episode_id, "vote": _told(vote, Side(attempt.side))}
            )


def _told(vote: Vote, side: Side) -> str:
    """What the vote says of a side."""
    better = PREFERRED.get(VoteChoice(vote.vote))
    if better is None:
        return vote.vote
    return "chosen" if side == better else "rejected"
