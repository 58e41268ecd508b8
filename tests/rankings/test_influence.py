"""Whose removal changes the top three."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankings.fit.bradley_terry import fit
from rankings.study.influence import Race, compared, simulate
from rankings.tally.counts import Ballot, Counts, tally
from rankings.trust import influence as module
from rankings.trust.influence import BoardUnderTest, Influence, influence
from rankings.trust.standing import standing


def asked(counts: Counts) -> BoardUnderTest:
    found = fit(counts)
    return standing(counts, found, found.names, cap=0)


def report(counts: Counts) -> Influence:
    return influence(asked(counts))


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
    known = asked(counts)
    for handover in report(counts)["handovers"]:
        upper, lower = (known.names.index(handover[side]) for side in ("upper", "lower"))
        if handover["voters"] is None:
            continue
        helpers = np.argsort(-(known.moved[:, upper] - known.moved[:, lower]), kind="stable")
        enough, fewer = known.without(helpers[: handover["voters"]]), known.without(helpers[: handover["voters"] - 1])
        assert enough.rating[lower] >= enough.rating[upper]
        assert fewer.rating[lower] < fewer.rating[upper]


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
    known = asked(tally([Ballot("a", "b", "left_better")]))
    nobody = replace(known, ranked=np.zeros(2, dtype=bool))
    nothing = {"movers": [], "largest": 0.0, "handovers": [], "looked_at": 0, "complete": True}
    assert influence(nobody) == nothing
    assert influence(known)["movers"] == []
    assert influence(known)["handovers"][0]["voters"] is None


@pytest.mark.parametrize("race", [Race(10, 4000, 200), Race(6, 600, 40, spread=20), Race(6, 1200, 60, robots=3)])
def test_in_close_races_every_voter_is_found_who_changes_the_top_three(race: Race) -> None:
    """The release looked at twenty voters, and never named more: of these it found at most 20 in each race."""
    found = [compared(race, seed=seed) for seed in range(3)]
    assert max(each.movers for each in found) > 20
    assert [(each.found, each.wrong) for each in found] == [(each.movers, 0) for each in found]
    assert all(each.complete for each in found)
    assert all(each.looked_at < race.voters for each in found)


def test_a_report_that_could_not_look_at_all_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    known = asked(simulate(Race(6, 600, 40, spread=20), np.random.default_rng(1)))
    assert influence(known)["complete"]
    monkeypatch.setattr(module, "MOST_REFITS", 1)
    monkeypatch.setattr(module, "FARTHEST", 1)
    found = influence(known)
    assert not found["complete"]
    assert found["looked_at"] <= 2


def test_policies_that_never_met_are_not_compared() -> None:
    """c and d never met a and b: the order is that of a and b, in which nobody changes a thing by saying c beats d."""
    votes = [Ballot("a", "b", "left_better", f"v{n:02}") for n in range(9)]
    votes += [Ballot("a", "b", "right_better", f"w{n:02}") for n in range(3)]
    votes += [Ballot("c", "d", "left_better", f"x{n:02}") for n in range(2)]
    found = report(tally([*votes, Ballot("a", "e", "left_better", "v00")]))
    assert {(each["upper"], each["lower"]) for each in found["handovers"]} <= {
        ("a", "b"),
        ("a", "e"),
        ("b", "e"),
        ("e", "b"),
    }
    assert found["movers"] == []


def test_whoever_alone_connects_two_groups_does_not_change_an_order_that_is_none() -> None:
    votes = [Ballot("a", "b", "left_better", f"v{n}") for n in range(6)]
    votes += [Ballot("c", "d", "left_better", f"w{n}") for n in range(9)]
    bridge = [Ballot("b", "c", "left_better", "z") for _ in range(3)]
    assert report(tally(votes + bridge))["movers"] == []
