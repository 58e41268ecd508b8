"""Which battles of the gallery were upsets: the model with the lower published rating won."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena.kinds import Kind
from arena.models import GalleryEntry, VoteChoice
from rankings.fit.ratings import Rating
from rankings.publication.snapshots import Rated
from rankings.tally.table import GLOBAL

AT_ONCE = 2000
"""The newest that are not rated yet. A battle of models that stay without a rank is asked about again each hour."""


def newly_rated(kind: Kind, rated: Iterable[Rated]) -> list[GalleryEntry]:
    """The battles since the last publication with their `upset`, not stored: rated by the first publication after their
    vote. Every battle is treated alike, also one that counts nowhere."""
    ratings = next((each.ratings["models"] for each in rated if each.board.name == GLOBAL), {})
    unrated = GalleryEntry.objects.filter(kind=kind.id, upset=None).select_related("vote").order_by("-vote_id")
    changed = []
    for entry in unrated[:AT_ONCE]:
        entry.upset = is_upset(entry, ratings)
        if entry.upset is not None:
            changed.append(entry)
    return changed


def mark(entries: Iterable[GalleryEntry]) -> None:
    GalleryEntry.objects.bulk_update(entries, ["upset"], batch_size=500)


def is_upset(entry: GalleryEntry, ratings: Mapping[str, Rating]) -> bool | None:
    """None while one of the two is on no rank, or they cannot be compared."""
    if entry.vote.vote in (VoteChoice.TIE, VoteChoice.BOTH_BAD):
        return False
    left, right = ratings.get(entry.left_model_id), ratings.get(entry.right_model_id)
    if left is None or right is None or left["component"] != right["component"]:
        return None
    if left["rank_low"] is None or right["rank_low"] is None:
        return None
    winner, loser = (left, right) if entry.vote.vote == VoteChoice.LEFT_BETTER else (right, left)
    return winner["rating"] < loser["rating"]
