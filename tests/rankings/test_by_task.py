"""What policies can do at each task, from all votes at once, and what is said of two of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankings.analysis.by_task import Prior, TaskFit, fit_tasks
from rankings.analysis.by_task import published as published_tasks
from rankings.analysis.comparison import NOTHING, DifferenceBelief, PairEvidence
from rankings.analysis.settled import published as settled_pairs
from rankings.fit.bradley_terry import SCALE
from rankings.fit.posterior import sigmoid
from rankings.study.tasks import TaskArena, predictions
from rankings.tally.counts import Ballot, Counts, tally
from tests.rankings.ballots import ballots

USUAL = Prior.of_points()


def at(task: str, *groups: tuple[str, str, str, int]) -> list[Ballot]:
    """Votes on a task; a task's number stands where a robot's does."""
    return [ballot._replace(setting=task) for ballot in ballots(*groups)]


def fitted(votes: list[Ballot], tasks: list[str], prior: Prior | None = USUAL) -> TaskFit:
    return fit_tasks(tally(votes), tasks, prior=prior)


def difference(found: TaskFit, task: int) -> DifferenceBelief:
    return DifferenceBelief(float(found.mean[task, 0] - found.mean[task, 1]), float(found.deviation[task, 0, 1]))


def test_with_one_pair_and_one_task_it_is_the_posterior_of_a_difference() -> None:
    """By numerical integration: the difference of two abilities is N(0, 2 (spread² + offset²)) beforehand."""
    found = difference(fitted(at("0", ("a", "b", "left_better", 30), ("a", "b", "right_better", 15)), ["pick"]), 0)
    grid = np.linspace(-5, 5, 20_001)
    variance = 2 * (USUAL.spread**2 + USUAL.offset**2)
    density = sigmoid(grid) ** 30 * sigmoid(-grid) ** 15 * np.exp(-(grid**2) / 2 / variance)
    density /= density.sum()
    mean = float(grid @ density)
    deviation = math.sqrt(float((grid - mean) ** 2 @ density))
    assert found.mean == pytest.approx(SCALE * mean, rel=0.03)
    assert found.deviation == pytest.approx(SCALE * deviation, rel=0.03)


def test_votes_on_one_task_say_less_of_another_one() -> None:
    votes = at("0", ("a", "b", "left_better", 60), ("a", "b", "right_better", 20)) + at("1", ("a", "b", "tie", 1))
    found = fitted(votes, ["pick", "stack"])
    voted, other = difference(found, 0), difference(found, 1)
    assert 0 < other.mean < voted.mean
    assert other.deviation > 1.5 * voted.deviation
    assert other.chance < voted.chance


def test_a_task_without_any_vote_is_known_from_the_others() -> None:
    found = fitted(at("0", ("a", "b", "left_better", 60), ("a", "b", "right_better", 20)), ["pick", "stack"])
    belief = difference(found, 1)
    assert belief.mean > 30
    assert belief.deviation > math.sqrt(2) * 100.0  # at least what tasks differ by


def test_tasks_that_agree_lean_on_each_other_and_tasks_that_differ_do_not() -> None:
    same = [vote for task in "0123" for vote in at(task, *_round_robin(False))]
    other = [vote for task in "0123" for vote in at(task, *_round_robin(task in "13"))]
    tasks = ["pick", "place", "stack", "push"]
    agreeing, differing = fitted(same, tasks, None), fitted(other, tasks, None)
    assert agreeing.prior.offset * SCALE <= 40.0
    assert differing.prior.offset * SCALE >= 150.0
    assert agreeing.deviation[0, 0, 1] < differing.deviation[0, 0, 1]


def _round_robin(backwards: bool) -> list[tuple[str, str, str, int]]:
    order = "dcba" if backwards else "abcd"
    found = []
    for one, better in enumerate(order):
        for worse in order[one + 1 :]:
            found += [(better, worse, "left_better", 30), (better, worse, "right_better", 10)]
    return found


def test_a_voters_votes_hang_together() -> None:
    each = [vote._replace(voter=f"v{n}") for n, vote in enumerate(at("0", *_round_robin(False)))]
    few = [vote._replace(voter=f"{vote.outcome}{n % 4}") for n, vote in enumerate(each)]
    assert fitted(few, ["pick"]).deviation[0, 0, 1] > 1.2 * fitted(each, ["pick"]).deviation[0, 0, 1]


def test_said_is_what_holds_for_tasks_of_an_arena() -> None:
    arenas = [predictions(TaskArena(1000), seed)["jointly"] for seed in range(20)]
    chance, right, holds = (
        np.concatenate([getattr(each, name) for each in arenas]) for name in ("chance", "right", "holds")
    )
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99)):
        inside = (chance >= low) & (chance < high)
        assert right[inside].mean() == pytest.approx(chance[inside].mean(), abs=0.06)
    assert 0.92 <= holds.mean() <= 0.98


def test_the_board_of_all_tasks_would_promise_too_much_of_a_task() -> None:
    arenas = [predictions(TaskArena(1000), seed)["the board of all tasks"] for seed in range(10)]
    assert np.concatenate([each.holds for each in arenas]).mean() < 0.7


# What a publication says of two.


def published(votes: list[Ballot], tasks: list[str]) -> PairEvidence:
    from rankings.fit.bradley_terry import fit

    counts = tally(votes)
    whole = tally([vote._replace(setting="") for vote in votes])
    found = fit(whole)
    board = settled_pairs(found, found.names)
    return PairEvidence(
        {"global": board, "robot=r": board}, {"r": published_tasks(fit_tasks(counts, tasks, prior=USUAL), counts)}, {}
    )


VOTES = at("0", ("a", "b", "left_better", 9), ("b", "a", "left_better", 3)) + at("1", ("b", "a", "tie", 4))


def test_the_two_ways_round_are_each_others_mirror() -> None:
    evidence = published(VOTES, ["pick", "stack"])
    for task in ("", "pick", "stack"):
        one, other = evidence.compare("a", "b", task=task), evidence.compare("b", "a", task=task)
        assert one["chance"] == pytest.approx(1 - (other["chance"] or 0), abs=1e-4)
        assert one["share"] == pytest.approx(1 - (other["share"] or 0), abs=1e-4)
        assert (one["low"], one["high"]) == (-(other["high"] or 0), -(other["low"] or 0))
        assert (one["record"]["wins"], one["record"]["losses"]) == (other["record"]["losses"], other["record"]["wins"])


def test_the_record_is_of_the_task_or_of_all_votes() -> None:
    evidence = published(VOTES, ["pick", "stack"])
    assert evidence.compare("a", "b", task="pick")["record"] == {"wins": 9, "losses": 3, "ties": 0, "both_bad": 0}
    assert evidence.compare("a", "b", task="stack")["votes"] == 4
    assert evidence.compare("a", "b")["votes"] == 16
    assert evidence.compare("a", "b")["offset"] is None
    assert evidence.compare("a", "b", task="pick")["offset"] == 100
    assert evidence.tasks() == ["pick", "stack"]


def test_nothing_is_known_of_two_that_no_votes_connect() -> None:
    votes = at("0", ("a", "b", "left_better", 9), ("c", "d", "left_better", 9))
    for task in ("", "pick"):
        found = published(votes, ["pick"]).compare("a", "c", task=task)
        assert (found["chance"], found["low"], found["votes"]) == (None, None, 0)
        assert published(votes, ["pick"]).compare("a", "b", task=task)["chance"] is not None


def test_two_that_met_only_on_another_task_are_still_connected() -> None:
    votes = at("0", ("a", "b", "left_better", 9)) + at("1", ("a", "c", "left_better", 9))
    assert published(votes, ["pick", "stack"]).compare("b", "c", task="stack")["chance"] is not None


def test_over_robots_each_has_its_say() -> None:
    votes = at("0", ("a", "b", "left_better", 9))
    one = published(votes, ["pick"])
    both = PairEvidence({}, {"r": one.by_task["r"], "s": one.by_task["r"]}, {})
    alone, together = one.belief("a", "b", task="pick"), both.belief("a", "b", task="pick")
    assert together.mean == pytest.approx(alone.mean)
    assert together.deviation == pytest.approx(alone.deviation / math.sqrt(2))
    assert both.belief("a", "b", task="pick", setting="s") == alone


@pytest.mark.parametrize(
    ("belief", "chance", "share"),
    [
        (NOTHING, 0.5, 0.5),
        (DifferenceBelief(0.0, 80.0), 0.5, 0.5),
        (DifferenceBelief(100.0, 1e-6), 1.0, 0.6401),
        (DifferenceBelief(60.0, 60.0), 0.8413, None),
        (DifferenceBelief(0.0, 0.0), 0.5, 0.5),
    ],
)
def test_a_belief_tells_the_chance_and_the_share_of_wins(
    belief: DifferenceBelief, chance: float, share: float | None
) -> None:
    assert belief.chance == pytest.approx(chance, abs=1e-4)
    if share is not None:
        assert belief.share == pytest.approx(share, abs=1e-4)


def test_an_arena_without_votes_is_no_error() -> None:
    empty: Counts = tally([])
    assert published_tasks(fit_tasks(empty, ["pick"]), empty)["names"] == []
