"""Reading the recording of an attempt, for callers who may see it."""

from __future__ import annotations

from dataclasses import dataclass

from rest_framework.request import Request

from arena.errors import EpisodeExpired, NotFound, NotVoted
from arena.live import release
from arena.models import Attempt, AttemptQuerySet, AttemptStatus, Compiled, Turn
from arena.rules import revealed
from arena.store import Document, get_store
from arena.visitors.permissions import check_may_look, check_public


@dataclass(frozen=True)
class Recorded:
    """An attempt with its turn, battle and session; `common_length`: the longer side's."""

    attempt: Attempt
    common_length: int
    failed_sides: int

    @property
    def may_be_shown(self) -> bool:
        """Whether the end of its turn is shown. The completed side of a failed turn is shown only with the vote."""
        if self.attempt.status != AttemptStatus.COMPLETED or not release.told(self.attempt.turn):
            return False
        return self.failed_sides == 0 or self.is_exact

    @property
    def is_exact(self) -> bool:
        return revealed(self.attempt.turn.battle)


def find_recorded(episode_id: str) -> Recorded | None:
    """The attempt with this id: one query, without the kind's own columns."""
    found = _recorded.first(episode_id)
    if found is None:
        return None
    return Recorded(found, found.common_length, found.failed_sides)  # type: ignore[attr-defined] # annotated


def _with_battle(episode_id: str) -> AttemptQuerySet:
    rows = Attempt.objects.filter(episode_id=episode_id).with_both_sides()
    return rows.select_related("turn__battle__session").order_by()


_recorded = Compiled(_with_battle)


def is_shared(turn: Turn) -> bool:
    """Whether everybody who has the address may see it: the turns of a voted battle, without forks."""
    return revealed(turn.battle) and not turn.is_fork


def find_shown(request: Request, episode_id: str, exact: bool = False) -> Recorded:
    """The attempt for this caller.

    Raises NotFound, BattleHidden, EpisodeExpired, and NotVoted if `exact` before the vote.
    """
    found = find_recorded(episode_id)
    if found is None or not is_shared(found.attempt.turn):
        check_may_look(request, found.attempt.turn.battle.session if found else None)
    if found is None:
        raise NotFound
    check_public(request, found.attempt.turn.battle)
    if found.attempt.expired_at is not None:
        raise EpisodeExpired
    if exact and not found.is_exact:
        raise NotVoted("Exact recordings come with the vote; until then there is view.bin.")
    return found


def read_recording(request: Request, episode_id: str, exact: bool = False) -> tuple[Recorded, Document]:
    """The recording for this caller. Raises what `find_shown` does."""
    found = find_shown(request, episode_id, exact)
    document = get_store().get(episode_id) if found.may_be_shown else None
    if document is None:
        raise NotFound
    return found, document
