"""Whose removal changes the top three."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankings.bradley_terry import fit, influence_of_voters
from rankings.counts import Ballot, Counts, tally
from rankings.influence import Influence, Standing, influence


def standing(counts: Counts) -> Standing:
    found = fit(counts)
    votes = np.bincount(counts.voter[counts.voter >= 0], counts.votes[counts.voter >= 0], counts.voters)
    return Standing(
        found.names,
        found.rating,
        np.ones(len(found.names), dtype=bool),
        influence_of_voters(counts),
        votes.astype(np.int64),
        lambda gone: fit(counts.where(~np.isin(counts.voter, gone))).rating,
    )


def report(counts: Counts) -> Influence:
    return influence(standing(counts))


def arena(seed: int = 0) -> list[Ballot]:
    rng = np.random.default_rng(seed)
    truth = {"a": 120, "b": 60, "c": 0, "d": -150}
    votes = []
    for voter in range(40):
        for _ in range(12):
            left, right = rng.choice(list(truth), 2, replace=False)
            p = 1 / (1 + 10 ** ((truth[right] - truth[left]) / 400))
            votes.append(Ballot(left, right, "left_better" if rng.random() < p else "right_better", f"v{voter:02}"))
    return votes


def test_a_stuffer_who_carries_a_policy_to_the_top_is_named_and_would_do_alone() -> None:
    stuffed = [Ballot("d", other, "left_better", "stuffer") for other in "abc" for _ in range(400)]
    counts = tally(arena() + stuffed)
    found = report(counts)
    assert fit(counts).names[int(np.argmax(fit(counts).rating))] == "d"
    assert found["movers"] == [0]  # the first of the sorted names
    assert found["largest"] > 100
    first = found["handovers"][0]
    assert (first["upper"], first["voters"], first["votes"]) == ("d", 1, 1200)
    assert first["share"] == pytest.approx(1200 / 1680, abs=1e-6)


def test_one_fewer_than_the_voters_named_does_not_bring_a_handover_about() -> None:
    counts = tally(arena())
    known = standing(counts)
    for handover in report(counts)["handovers"]:
        upper, lower = (known.names.index(handover[side]) for side in ("upper", "lower"))
        if handover["voters"] is None:
            continue
        helpers = np.argsort(-(known.moved[:, upper] - known.moved[:, lower]), kind="stable")
        enough, fewer = known.without(helpers[: handover["voters"]]), known.without(helpers[: handover["voters"] - 1])
        assert enough[lower] >= enough[upper]
        assert fewer[lower] < fewer[upper]


def test_close_places_need_few_voters_and_distant_ones_many() -> None:
    close, *_ = report(tally(arena(seed=1)))["handovers"]
    assert close["voters"] is not None
    far = report(tally([*arena(seed=1), *[Ballot("a", "b", "left_better", f"w{n}") for n in range(60)]]))["handovers"][
        0
    ]
    assert far["voters"] is None or far["voters"] > close["voters"]


def test_equal_ratings_need_nobody_to_change_places() -> None:
    votes = [Ballot("a", "b", outcome, voter) for outcome in ("left_better", "right_better") for voter in ("x", "y")]
    assert report(tally(votes))["handovers"][0]["voters"] == 0


def test_with_nobody_ranked_and_without_voters_there_is_nothing_to_move() -> None:
    known = standing(tally([Ballot("a", "b", "left_better")]))
    nobody = replace(known, ranked=np.zeros(2, dtype=bool))
    assert influence(nobody) == {"movers": [], "largest": 0.0, "handovers": []}
    assert influence(known)["movers"] == []
    assert influence(known)["handovers"][0]["voters"] is None
