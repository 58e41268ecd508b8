"""How much a visitor's votes weigh, by the visitor's votes on clear battles. No Django.

A *clear battle* is an ordinary battle about one task in which one side reached the goal and the other stayed far from
it. It becomes clear only when it is played, so nothing distinguishes it beforehand. A vote for the side that reached
the goal is a right answer.

Votes from a network weigh NEWCOMER until their voter has voted on a second day (UTC) and answered some clear battles
right; with PROVEN right answers, net of the others, they have full weight. All votes of a voter weigh the same, earlier
ones included: each publication computes the weight again. docs/ranking-study.md measures what that does against stuffed
votes.
"""

from __future__ import annotations

from typing import NamedTuple

NEWCOMER = 0.05
"""The weight of a vote whose voter has proven nothing yet."""
PROVEN = 3
"""Right answers, net of the others, that give a vote its full weight of 1."""
WRONG, EVEN = 2, 1
"""Right answers that make up for one vote for the side that failed, and for one tie or both bad."""
DAYS = 2
"""A voter with votes on fewer days is a newcomer, whatever the answers, so that a new cookie weighs little."""
LOW_PROGRESS = 0.5
"""A battle is clear where the side that failed made no more progress than this, of 1."""


class Answers(NamedTuple):
    """How often a voter voted for the side that reached the goal, for the other one, or for neither."""

    right: int = 0
    wrong: int = 0
    even: int = 0

    def plus(self, other: Answers) -> Answers:
        return Answers(self.right + other.right, self.wrong + other.wrong, self.even + other.even)


def trust(answers: Answers, days: int) -> float:
    """The weight of a voter's votes, from NEWCOMER to 1. `days`: how many days the voter has voted on."""
    if days < DAYS:
        return NEWCOMER
    net = answers.right - WRONG * answers.wrong - EVEN * answers.even
    return round(NEWCOMER + (1.0 - NEWCOMER) * min(max(net, 0), PROVEN) / PROVEN, 4)


def answer(vote: str, winner: str) -> Answers:
    """To one clear battle. `winner`: the vote for the side that reached the goal."""
    if vote == winner:
        return Answers(right=1)
    return Answers(wrong=1) if vote in ("left_better", "right_better") else Answers(even=1)


def clear_winner(
    left_wins: int, right_wins: int, left_best: float | None, right_best: float | None, turns: int = 1
) -> str | None:
    """The vote for the side that reached the goal while the other stayed far from it; None where that is not clear.

    `left_wins`: in how many of the `turns` the left side reached the goal. It must be half of them or more, since one
    of three starts may be luck. `left_best`: its best progress in any turn, 0 to 1.
    """
    if 2 * max(left_wins, right_wins) < turns:
        return None
    if left_wins and not right_wins and right_best is not None and right_best <= LOW_PROGRESS:
        return "left_better"
    if right_wins and not left_wins and left_best is not None and left_best <= LOW_PROGRESS:
        return "right_better"
    return None
