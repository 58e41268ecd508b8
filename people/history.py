"""What a visitor voted, and the board of these votes alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from arena.models import Attempt, AttemptStatus, Contestant, Side, Turn, Vote, VoteChoice
from rankings.fit.bradley_terry import fit
from rankings.tally.counts import OUTCOMES, UNKNOWN_VOTER, Columns, Counts

ON_A_PAGE = 20
FEW = 30
"""With fewer votes a personal order is mostly chance, and no points are given."""
CHOICES: dict[str, Promise] = {
    VoteChoice.LEFT_BETTER: gettext_lazy("Left is better"),
    VoteChoice.RIGHT_BETTER: gettext_lazy("Right is better"),
    VoteChoice.TIE: gettext_lazy("Tie"),
    VoteChoice.BOTH_BAD: gettext_lazy("Both bad"),
}
REACHED: dict[tuple[bool, bool], Promise] = {
    (True, False): gettext_lazy("only left reached the goal"),
    (False, True): gettext_lazy("only right reached the goal"),
    (True, True): gettext_lazy("both reached the goal"),
    (False, False): gettext_lazy("neither reached the goal"),
}


@dataclass(frozen=True)
class VotedBattle:
    """A row of the history. `physics` and `agrees` are None where physics has no verdict on every turn."""

    vote: Vote
    instruction: str
    more_turns: int
    choice: Promise
    physics: Promise | None
    agrees: bool | None

    @classmethod
    def of(cls, vote: Vote) -> VotedBattle:
        turns: list[Turn] = list(vote.battle.turns.all())
        first = turns[0].instruction if turns else ""
        reached = _reached(turns)
        agrees = None if reached is None else _winner(*reached) == _named(vote.vote)
        physics = None if reached is None else REACHED[bool(reached[0]), bool(reached[1])]
        return cls(vote, first, max(0, len(turns) - 1), CHOICES[vote.vote], physics, agrees)


def history(visitor: str, number: str | None) -> Page[Any]:
    """A page of the visitor's votes, newest first, as `VotedBattle`. Four queries. An invalid number is page 1, and one
    that is too high the last."""
    page: Page[Any] = Paginator(_votes(visitor), ON_A_PAGE).get_page(number)
    page.object_list = [VotedBattle.of(vote) for vote in page.object_list]
    return page


def _votes(visitor: str) -> QuerySet[Vote]:
    turns = Prefetch("battle__turns", Turn.objects.judged().order_by("seq").prefetch_related("attempts"))
    votes = Vote.objects.filter(user_id=visitor).select_related("battle", "left_model", "right_model")
    return votes.prefetch_related(turns).order_by("-voted_at", "-pk")


def _reached(turns: list[Turn]) -> tuple[int, int] | None:
    """In how many of the completed turns each side reached the goal. None unless physics judged all of them."""
    won = {Side.LEFT: 0, Side.RIGHT: 0}
    completed = [turn for turn in turns if _is_completed(turn)]
    for attempt in (attempt for turn in completed for attempt in turn.attempts.all()):
        if attempt.success is None:
            return None
        won[Side(attempt.side)] += attempt.success
    return (won[Side.LEFT], won[Side.RIGHT]) if completed else None


def _is_completed(turn: Turn) -> bool:
    sides: list[Attempt] = list(turn.attempts.all())
    return bool(sides) and all(side.status == AttemptStatus.COMPLETED for side in sides)


def _winner(left: int, right: int) -> int:
    return (left > right) - (left < right)


def _named(choice: str) -> int:
    """1 for left, -1 for right, 0 for neither."""
    return {VoteChoice.LEFT_BETTER.value: 1, VoteChoice.RIGHT_BETTER.value: -1}.get(choice, 0)


class BoardRow(NamedTuple):
    """`points`: the rating by these votes alone, None with few votes or where nothing bounds it."""

    model_id: str
    name: str
    won: int
    lost: int
    tied: int
    both_bad: int
    points: int | None
    half_width: int | None

    @property
    def battles(self) -> int:
        return self.won + self.lost + self.tied + self.both_bad

    @property
    def score(self) -> float:
        return (self.won + 0.5 * (self.tied + self.both_bad)) / self.battles


class PersonalBoard(NamedTuple):
    """`few`: there are too few votes for an order that means something."""

    rows: list[BoardRow]
    votes: int
    few: bool


def personal_board(visitor: str) -> PersonalBoard:
    """The models of all kinds that the visitor has voted about, best first. Two queries.

    By rating less its uncertainty with enough votes, else by the share of points won.
    """
    sums = Vote.objects.filter(user_id=visitor).order_by().values_list("left_model_id", "right_model_id", "vote")
    cast = [(str(left), str(right), str(vote), int(n)) for left, right, vote, n in sums.annotate(Count("pk"))]
    total = sum(n for *_, n in cast)
    points = {} if total < FEW else _points(cast)
    rows = [_row(model, cast, points) for model in _models(cast)]
    return PersonalBoard(sorted(rows, key=_order), total, total < FEW)


Cast = list[tuple[str, str, str, int]]
"""(left, right, vote, how often)."""


def _models(cast: Cast) -> list[Contestant]:
    names = {name for left, right, *_ in cast for name in (left, right)}
    return list(Contestant.objects.filter(pk__in=names).only("id", "name"))


def _row(model: Contestant, cast: Cast, points: dict[str, tuple[float, float]]) -> BoardRow:
    seen: Counter[str] = Counter()
    for left, right, vote, n in cast:
        if model.pk in (left, right):
            side = 1 if model.pk == left else -1
            seen[vote if _named(vote) == 0 else "won" if _named(vote) == side else "lost"] += n
    rating, half_width = points.get(model.pk, (np.inf, np.inf))
    known = bool(np.isfinite(rating) and np.isfinite(half_width))
    numbers = (round(rating), round(half_width)) if known else (None, None)
    return BoardRow(model.pk, model.name, seen["won"], seen["lost"], seen["tie"], seen["both_bad"], *numbers)


def _order(row: BoardRow) -> tuple[float, float, str]:
    sure = -np.inf if row.points is None else row.points - (row.half_width or 0)
    return -sure, -row.score, row.name


def _points(cast: Cast) -> dict[str, tuple[float, float]]:
    """Model -> rating and half-width of its interval. One voter's votes of one day are not capped: all are theirs."""
    names = sorted({name for left, right, *_ in cast for name in (left, right)})
    place = {name: number for number, name in enumerate(names)}
    outcomes = np.zeros((len(cast), len(OUTCOMES)), np.int64)
    for number, (*_, vote, n) in enumerate(cast):
        outcomes[number, OUTCOMES.index(vote)] = n
    left = np.array([place[row[0]] for row in cast], np.int64)
    right = np.array([place[row[1]] for row in cast], np.int64)
    same = np.zeros(len(cast), np.int64)
    counts = Counts.of(names, Columns(left, right, np.full(len(cast), UNKNOWN_VOTER), same, same, outcomes))
    found = fit(counts, cap=0, cluster=False)
    return {
        name: (float(found.rating[number]), float(found.half_width[number])) for number, name in enumerate(found.names)
    }
