"""What is computed of many voters is summed over what has votes, and equals what a loop over all of them finds."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.analysis import by_task
from rankings.analysis.by_task import Prior
from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.posterior import Games, sigmoid
from rankings.tally.counts import Ballot, Counts, tally
from rankings.trust.campaigns import LEAST_VARIANCE, ORDINARY_PUSH, Newcomers

NAMES = ("a", "b", "c", "d", "e")
OUTCOMES = ("left_better", "right_better", "tie", "both_bad")


def votes(count: int, settings: int = 1, unknown: float = 0.0) -> Counts:
    rng = np.random.default_rng(count)

    def ballot() -> Ballot:
        left, right = rng.choice(len(NAMES), 2, replace=False)
        voter = None if rng.random() < unknown else f"voter-{rng.integers(1 + count // 4):03}"
        return Ballot(NAMES[left], NAMES[right], str(rng.choice(OUTCOMES)), voter, f"{rng.integers(settings)}")

    return tally([ballot() for _ in range(count)], NAMES)


@pytest.mark.parametrize("unknown", [0.0, 0.3])
@pytest.mark.parametrize("tasks", [2, 5])
def test_the_variance_of_the_gradient_is_that_of_voter_after_voter(tasks: int, unknown: float) -> None:
    """The last tasks have no vote."""
    apart = by_task._apart(votes(60, 2, unknown).without_sides(), tasks)
    weights = np.random.default_rng(1).uniform(0.2, 1.0, len(apart.left))
    joint, x = by_task._at(Games.of(apart, weights), tasks, Prior.of_points())
    wanted, scale = np.zeros((len(x), len(x))), apart.voters / (apart.voters - 1.0)
    for voter in np.unique(apart.voter).tolist():
        alone = np.zeros(len(x))
        for row in np.flatnonzero(apart.voter == voter).tolist():
            left, right = apart.left[row], apart.right[row]
            p = sigmoid(x[left] - x[right])
            surprise = weights[row] * (apart.scores[row] - apart.votes[row] * p)
            alone[left], alone[right] = alone[left] + surprise, alone[right] - surprise
            if voter < 0:
                own = np.repeat([1.0, 0.0, 0.5, 0.5], apart.outcomes[row])
                edge = np.zeros(len(x))
                edge[left], edge[right] = 1.0, -1.0
                wanted += float((weights[row] ** 2 * (own - p) ** 2).sum()) * np.outer(edge, edge)
        wanted += scale * np.outer(alone, alone) if voter >= 0 else 0.0
    assert by_task._meat(joint, x, apart, weights) == pytest.approx(wanted, abs=1e-12)


def test_the_pushes_of_newcomers_are_those_of_vote_after_vote() -> None:
    counts = votes(80)
    board = fit(counts)
    new = np.unique(counts.voter)[3:]
    some = Newcomers.of(counts, board, new)
    push, doubt = (np.zeros((len(new), len(NAMES))) for _ in range(2))
    for row in np.flatnonzero(np.isin(counts.voter, new)).tolist():
        who, left, right = int(np.searchsorted(new, counts.voter[row])), counts.left[row], counts.right[row]
        p = float(sigmoid(np.array((board.rating[left] - board.rating[right]) / SCALE)))
        surprise = counts.scores[row] - counts.votes[row] * p
        push[who, left], push[who, right] = push[who, left] + surprise, push[who, right] - surprise
        doubt[who, [left, right]] += counts.votes[row] * p * (1.0 - p)
    found, spread = some.pushes(some.score), some.spread()
    for place in range(len(NAMES)):
        assert some.on(place, found, 0.0) == pytest.approx(push[:, place])
    assert np.array_equal(some.voter, new)
    assert some.on(0, spread, np.sqrt(LEAST_VARIANCE))[doubt[:, 0] == 0] == pytest.approx(np.sqrt(LEAST_VARIANCE))
    sums = some.sums(found, spread)
    wide = np.stack([some.on(place, spread, np.sqrt(LEAST_VARIANCE)) for place in range(len(NAMES))], axis=1)
    for side, sign in enumerate((1.0, -1.0)):
        beyond = np.maximum(sign * push / wide - ORDINARY_PUSH, 0.0).sum(axis=0)
        assert sums[0, side] == pytest.approx(beyond)
        assert sums[1, side] == pytest.approx(beyond), "each voter is a cluster of its own"
        assert sums[2, side] == pytest.approx(sign * push.sum(axis=0), abs=1e-12)


def test_drawn_scores_are_as_often_even_and_won_as_the_board_expects() -> None:
    counts = votes(400)
    some = Newcomers.of(counts, fit(counts), np.unique(counts.voter))
    rng = np.random.default_rng(0)
    drawn = np.mean([some.drawn(np.zeros(len(NAMES)), rng) for _ in range(300)], axis=0)
    assert len(drawn) == counts.total
    assert drawn.mean() == pytest.approx(sigmoid(some.margin).mean(), abs=0.01)
