"""Fitting again without some votes, from sums per pair, gives what a fit of the other votes gives."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.bradley_terry import Refits, fit
from rankings.tally.counts import Ballot, Counts, tally


def votes(robots: tuple[str, ...] = ("widowx",), seed: int = 0) -> Counts:
    """Some voters cast many votes on one day, so that the cap bites; some nobody knows."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(600):
        left, right = rng.choice(list("abcde"), 2, replace=False)
        voter = None if rng.random() < 0.2 else f"v{int(rng.integers(0, 12) ** 2 / 12):02}"
        outcome = str(rng.choice(["left_better", "right_better", "tie", "both_bad"], p=[0.45, 0.3, 0.15, 0.1]))
        day = f"2026-01-0{rng.integers(1, 4)}"
        found.append(Ballot(str(left), str(right), outcome, voter, str(rng.choice(list(robots))), day))
    return tally(found)


@pytest.mark.parametrize("robots", [("widowx",), ("franka", "widowx")])
@pytest.mark.parametrize("gone", [[0], [1, 4], [2, 3, 5, 7, 8, 9]])
def test_without_some_voters_it_is_the_fit_of_the_others(robots: tuple[str, ...], gone: list[int]) -> None:
    counts = votes(robots)
    rows = np.isin(counts.voter, gone)
    rating, group = Refits.of(counts, cap=5).without(rows)
    whole = fit(counts.where(~rows), cap=5, cluster=False)
    assert rating == pytest.approx(whole.rating, abs=1e-6)
    assert group.tolist() == whole.group.tolist()
    assert np.abs(rating - fit(counts, cap=5).rating).max() > 0.1


def test_whoever_met_others_in_the_votes_that_go_alone_is_left_by_itself() -> None:
    """Weights of a third, which do not add up to whole numbers: nothing may be left of a pair but rounding."""
    lone = [Ballot("a", "z", "left_better", "fan", "", "today")] * 7 + [Ballot("a", "b", "tie", "fan", "", "today")] * 2
    counts = tally([*lone, *[Ballot("a", "b", "left_better", "other", "", "today")] * 7])
    rows = counts.voter == 0
    _, group = Refits.of(counts, cap=3).without(rows)
    assert group[0] == group[1] != group[2]
