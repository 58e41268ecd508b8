"""With few voters intervals are wider, by Student's distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankings.fit.bradley_terry import fit
from rankings.fit.student import Z, quantile
from rankings.tally.counts import tally
from tests.rankings.ballots import ballots


@pytest.mark.parametrize("degrees", [2, 3, 5, 10, 30, 1000])
def test_the_quantile_is_students_within_a_hundredth(degrees: int) -> None:
    assert quantile(np.array([degrees]))[0] == pytest.approx(stats.t.ppf(0.975, degrees), rel=0.01)


def test_with_endless_degrees_it_is_the_normal_one() -> None:
    assert quantile(np.array([np.inf]))[0] == Z


def test_the_same_votes_by_fewer_voters_have_a_wider_interval() -> None:
    def width(voters: int) -> float:
        votes = [("ab"[n % 2], "ba"[n % 2], "left_better", 1, f"v{n % voters}") for n in range(240)]
        return float(fit(tally(ballots(*votes))).half_width[0])

    assert width(2) > width(3) > 0
