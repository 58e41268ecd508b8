"""How much a visitor's votes weigh, by what they said where physics was clear. No Django.

A *calibration battle* is an ordinary battle of contestants about one task in which one side reached the goal and the
other stayed far from it. Which battles turn out so is known only once they were played, so that nothing about one tells
it from others beforehand. Who votes for the side that reached the goal answers it right.

Votes that came from a network weigh NEWCOMER until their voter has come on a second day (UTC) and has answered some
calibration battles right; with PROVEN more right answers than wrong ones, they weigh as much as anybody's. All votes of
a voter are weighed alike, those before as well: each publication asks anew. docs/ranking-study.md says what that is
worth against stuffed votes.
"""

from __future__ import annotations

from typing import NamedTuple

NEWCOMER = 0.05
"""What a vote weighs whose voter has shown nothing yet."""
PROVEN = 3
"""So many right answers, net of the others, make a vote weigh 1."""
WRONG, EVEN = 2, 1
"""How many right answers it takes to make up for one for the side that failed, and for one tie or both bad."""
DAYS = 2
"""Whoever has voted on fewer days is a newcomer, whatever the answers: a cookie made today weighs little today."""
LOW_PROGRESS = 0.5
"""Physics is clear where the side that did not reach the goal never came farther."""


class Answers(NamedTuple):
    """How often a voter voted for the side that reached the goal, for the other one, or for neither."""

    right: int = 0
    wrong: int = 0
    even: int = 0

    def plus(self, other: Answers) -> Answers:
        return Answers(self.right + other.right, self.wrong + other.wrong, self.even + other.even)


def trust(answers: Answers, days: int) -> float:
    """What a vote weighs, from NEWCOMER to 1. `days`: on how many the voter has voted."""
    if days < DAYS:
        return NEWCOMER
    net = answers.right - WRONG * answers.wrong - EVEN * answers.even
    return round(NEWCOMER + (1.0 - NEWCOMER) * min(max(net, 0), PROVEN) / PROVEN, 4)


def answer(vote: str, winner: str) -> Answers:
    """Of one calibration battle. `winner` is the vote for the side that reached the goal."""
    if vote == winner:
        return Answers(right=1)
    return Answers(wrong=1) if vote in ("left_better", "right_better") else Answers(even=1)


def clear_winner(
    left_wins: int, right_wins: int, left_best: float | None, right_best: float | None, turns: int = 1
) -> str | None:
    """The vote for the side that reached the goal while the other stayed far from it; None where physics is not clear.

    `left_wins`: in how many of the `turns` the left side reached it, at least half of them to be clear: one of three
    starts may be luck. `left_best`: its best progress in any, 0 to 1.
    """
    if 2 * max(left_wins, right_wins) < turns:
        return None
    if left_wins and not right_wins and right_best is not None and right_best <= LOW_PROGRESS:
        return "left_better"
    if right_wins and not left_wins and left_best is not None and left_best <= LOW_PROGRESS:
        return "right_better"
    return None
