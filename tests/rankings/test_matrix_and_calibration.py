"""Head to head, and whether ratings foresee votes that they have not seen."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.analysis.calibration import calibration, nothing
from rankings.study.calibration import PredictedBoard, held
from rankings.tally.counts import Ballot, Counts, tally
from rankings.tally.matrix import matrix
from tests.rankings.ballots import ballots


def test_the_matrix_counts_ties_half_and_both_sides_of_a_pair() -> None:
    counts = tally(
        ballots(
            ("a", "b", "left_better", 3), ("b", "a", "left_better", 1), ("a", "b", "tie", 1), ("b", "a", "both_bad", 1)
        )
    )
    found = matrix(counts, [["b", "a"], ["c"]])
    assert (found["names"], found["components"]) == (["b", "a", "c"], [1, 1, 2])
    assert found["votes"] == [[0, 6, 0], [6, 0, 0], [0, 0, 0]]
    assert found["rates"][1][0] == pytest.approx(4 / 6, abs=1e-4)
    assert found["rates"][0][1] == pytest.approx(2 / 6, abs=1e-4)
    assert found["rates"][2] == [None, None, None]


def arena(bias: float = 0.0, voters: int = 200, seed: int = 3) -> Counts:
    """`bias` > 0: the favourite wins more often than any ratings can say, since one policy beats only its better."""
    rng = np.random.default_rng(seed)
    names = "abcdefgh"
    truth = dict(zip(names, np.linspace(350, -350, 8), strict=True))
    votes = []
    for voter in range(voters):
        for _ in range(20):
            left, right = sorted(rng.choice(list(names), 2, replace=False))
            p = 1 / (1 + 10 ** ((truth[right] - truth[left]) / 400))
            if bias and left == "a" and right == "h":
                p = 1.0 - p
            drawn = rng.random()
            outcome = "tie" if drawn < 0.2 else "left_better" if drawn < 0.2 + 0.8 * p else "right_better"
            votes.append(Ballot(left, right, outcome, f"v{voter}"))
    return tally(votes)


def test_ratings_of_a_true_model_are_calibrated_on_voters_they_have_not_seen() -> None:
    found = calibration(arena())
    assert found["votes"] == 2400  # those of six folds of ten
    assert found["error"] is not None
    assert found["chance"] is not None
    assert found["error"] < 2.5 * found["chance"]
    assert found["chance"] < 0.03
    assert found["brier"] is not None
    assert found["brier_flat"] is not None
    assert found["brier"] < found["brier_flat"]
    inside = [each["gap_low"] <= 0.0 <= each["gap_high"] for each in found["bins"]]
    assert sum(inside) >= len(inside) - 2


def test_a_policy_that_no_scale_can_place_shows_in_the_calibration() -> None:
    honest, crooked = calibration(arena())["error"], calibration(arena(bias=1.0))["error"]
    assert honest is not None
    assert crooked is not None
    assert crooked > honest


def test_the_bins_hold_all_votes_and_favourites_only() -> None:
    found = calibration(arena())
    assert sum(each["votes"] for each in found["bins"]) == found["votes"]
    assert all(0.5 <= each["low"] <= each["predicted"] <= each["high"] for each in found["bins"])


def test_without_votes_and_with_one_voter_there_is_nothing_to_foresee() -> None:
    assert calibration(tally([]))["bins"] == []
    assert calibration(tally(ballots(("a", "b", "tie", 9, "x"))))["votes"] == 0
    assert calibration(tally(ballots(("a", "b", "tie", 9, "x"), ("c", "d", "tie", 9, "y"))))["error"] is None
    few = tally(ballots(*(("a", "b", "left_better", 9, f"v{number}") for number in range(4))))
    assert calibration(few) == nothing()


def test_intervals_hold_where_few_voters_with_tastes_cast_many_votes() -> None:
    """The release, which took votes for independent, held 67 % of such bins, and 67 % of its predictions lay within."""
    found = held(PredictedBoard(10, 4000, 60, 200), repeats=30, seed=2)
    assert found.bins > 200
    assert 0.9 < found.actual <= 0.98
    assert 0.92 < found.gap <= 0.98
    assert found.error == pytest.approx(found.chance, rel=0.15)


def test_votes_of_strangers_are_foretold_like_those_of_voters_with_one_vote_each() -> None:
    rng = np.random.default_rng(5)
    votes = [Ballot(*rng.permutation(["a", "b", "c"])[:2].tolist(), "left_better") for _ in range(900)]
    named = [vote._replace(voter=f"v{number:03}") for number, vote in enumerate(votes)]
    unknown, known = calibration(tally(votes)), calibration(tally(named))
    assert known["votes"] == 540
    assert unknown["votes"] == pytest.approx(540, abs=10)
    for one, other in zip(unknown["bins"][:1], known["bins"][:1], strict=True):
        width, same = (each["gap_high"] - each["gap_low"] for each in (one, other))
        assert width == pytest.approx(same, rel=0.2)
