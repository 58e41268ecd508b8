"""The classic Elo of each board, continued from where the last run stopped. It depends on the order of the votes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache

from django.db.models import QuerySet

from arena.kinds import Kind
from arena.models import ProcessingStatus, Vote
from rankings.fit.elo import sequential_elo
from rankings.models import ClassicElo
from rankings.tally.counts import Ballot
from rankings.tally.table import Board

BATCH = 1000
Members = Mapping[str, set[str]]
"""Division -> the contestants in it."""


def advanced(
    kind: Kind, boards: Collection[Board], new: Collection[int], regrouped: Collection[str] = ()
) -> dict[str, ClassicElo]:
    """By board, the ratings of a kind after the votes with the primary keys `new`: read only, for `save`.

    A board is rated again from its first vote where a vote came late, was excluded or restored, the board is new, or
    its division is among the `regrouped`, which have other members now.
    """
    states = {state.board: state for state in ClassicElo.objects.filter(kind=kind.id)}
    members = kind.members()
    fresh = _by_board(kind, new, boards, members)
    done = {}
    for board in boards:
        state, votes = states.get(board.name), fresh.get(board.name, [])
        if state is None or board.division in regrouped or _is_behind(state, votes):
            state = ClassicElo(kind=kind.id, board=board.name)
            everything = _within(members, board, _counted(kind, board))
            _take(state, everything.order_by("voted_at", "pk").iterator(chunk_size=20_000))
        else:
            _take(state, votes)
        done[board.name] = state
    return done


def _is_behind(state: ClassicElo, votes: Sequence[Vote]) -> bool:
    """Whether it cannot go on with these votes."""
    return state.stale or bool(votes and _place(votes[0]) <= (state.last_voted_at, state.last_vote_id))


def _within(members: Members, board: Board, votes: QuerySet[Vote]) -> QuerySet[Vote]:
    """Those between members of the board's division."""
    if not board.division:
        return votes
    own = members[board.division]
    return votes.filter(left_model_id__in=own, right_model_id__in=own)


def ratings(kind: Kind) -> dict[str, dict[str, int]]:
    """By board and contestant, as the last run stored them."""
    return dict(ClassicElo.objects.filter(kind=kind.id).values_list("board", "ratings"))


def from_scratch(board: Board, votes: QuerySet[Vote], without: Collection[int]) -> dict[str, int]:
    """The ratings of a setting's or the global board after some votes, not stored. `without`: primary keys."""
    chosen = votes.filter(setting=board.setting) if board.setting else votes
    state = ClassicElo(board=board.name)
    in_order = chosen.order_by("voted_at", "pk").iterator(chunk_size=20_000)
    _take(state, (vote for vote in in_order if vote.pk not in without))
    return dict(state.ratings)


def _take(state: ClassicElo, votes: Iterable[Vote]) -> None:
    def ballots() -> Iterable[Ballot]:
        for vote in votes:
            state.last_voted_at, state.last_vote_id = vote.voted_at, vote.pk
            yield Ballot(vote.left_model_id, vote.right_model_id, vote.vote)

    state.ratings = sequential_elo(ballots(), start=state.ratings)


def _by_board(kind: Kind, keys: Collection[int], boards: Iterable[Board], members: Members) -> Mapping[str, list[Vote]]:
    found: dict[str, list[Vote]] = defaultdict(list)
    ordered, holding = sorted(keys), cache(lambda *place: [board for board in boards if board.holds(*place)])
    for first in range(0, len(ordered), BATCH):
        votes = _counted(kind, Board()).filter(pk__in=ordered[first : first + BATCH])
        for vote in votes.select_related("counted_vote__count"):
            task = vote.counted_vote.count.task_id
            pair = {vote.left_model_id, vote.right_model_id}
            for board in holding(vote.setting, vote.scene, task):
                if not board.division or pair <= members[board.division]:
                    found[board.name].append(vote)
    return {name: sorted(votes, key=_place) for name, votes in found.items()}


def _counted(kind: Kind, board: Board) -> QuerySet[Vote]:
    """Those that are pending are being published."""
    votes = Vote.objects.filter(kind=kind.id, counted_vote__counted=True)
    votes = votes.exclude(processing_status=ProcessingStatus.FAILED)
    columns = {"setting": board.setting, "scene": board.scene, "counted_vote__count__task_id": board.task}
    return votes.filter(**{column: value for column, value in columns.items() if value})


def _place(vote: Vote) -> tuple[datetime, int]:
    """The order of the classic Elo."""
    return vote.voted_at, vote.pk


def save(states: Iterable[ClassicElo]) -> None:
    ClassicElo.objects.bulk_create(
        states,
        update_conflicts=True,
        unique_fields=["kind", "board"],
        update_fields=["ratings", "last_voted_at", "last_vote_id", "stale"],
    )
