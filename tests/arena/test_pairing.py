"""Who meets whom: P-EL-01 and P-EL-02."""

from __future__ import annotations

from collections import Counter

import pytest

from arena.errors import NoContestants
from arena.models import ContestantStatus, PairChance
from arena.pairing import draw_pair
from policies.models import Policy
from tests.arena.conftest import Visitor, battle_row
from tests.factories import PolicyFactory, ReferenceFactory

DRAWS = 6000


def policies(**weights: float) -> list[Policy]:
    return [Policy(id=name, name=name, pairing_weight=weight) for name, weight in weights.items()]


def draws(contestants: list[Policy], times: int = DRAWS) -> Counter[tuple[str, str]]:
    pairs = (draw_pair(contestants) for _ in range(times))
    return Counter((left.id, right.id) for left, right in pairs)


def test_every_pair_and_every_order_is_equally_likely() -> None:
    counts = draws(policies(a=1, b=1, c=1, d=1))
    assert len(counts) == 12
    expected = DRAWS / 12
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_square < 38  # 11 degrees of freedom: a fair draw is above this once in ten thousand runs


def test_a_policy_never_meets_itself() -> None:
    assert all(left != right for left, right in draws(policies(a=1, b=1, c=1)))


def test_a_pairs_chance_is_the_product_of_its_weights() -> None:
    counts = draws(policies(a=3, b=1, c=1))
    with_a = sum(count for pair, count in counts.items() if "a" in pair)
    assert with_a / DRAWS == pytest.approx(6 / 7, abs=0.03)


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan"), float("inf")])
def test_a_weight_that_is_no_chance_keeps_a_policy_out(weight: float) -> None:
    assert all("c" not in pair for pair in draws(policies(a=1, b=1, c=weight), 300))


def test_when_no_weight_is_left_every_pair_is_equally_likely() -> None:
    assert len(draws(policies(a=0, b=0, c=0), 300)) == 6


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_contestants_cannot_be_paired(count: int) -> None:
    with pytest.raises(NoContestants):
        draw_pair(policies(a=1, b=1)[:count])


def test_references_and_inactive_policies_are_never_drawn(visitor: Visitor) -> None:
    ReferenceFactory()
    PolicyFactory(id="retired", status=ContestantStatus.RETIRED)
    PolicyFactory(id="broken", status=ContestantStatus.UNAVAILABLE)
    for _ in range(20):
        battle = battle_row(visitor.open())
        assert {battle.left_model_id, battle.right_model_id} == {"alpha", "beta"}


def test_without_two_contestants_a_session_answers_503_and_leaves_nothing_behind(visitor: Visitor) -> None:
    Policy.objects.get(id="beta").retire("broken")
    refused = visitor.post("sessions/init", {})
    assert (refused.status_code, refused.json()["code"]) == (503, "no_contestants")
    assert visitor.get("sessions/?mine").json()["results"] == []


def test_pairs_meet_as_often_as_the_rankings_wrote() -> None:
    written = {("a", "b"): 0.7, ("a", "c"): 0.2, ("b", "c"): 0.1}
    counts = Counter(
        "".join(sorted(policy.id for policy in draw_pair(policies(a=9, b=1, c=0), written))) for _ in range(DRAWS)
    )
    assert counts["ab"] / DRAWS == pytest.approx(0.7, abs=0.03)
    assert counts["bc"] / DRAWS == pytest.approx(0.1, abs=0.02)


def test_a_policy_entered_since_meets_others_as_often_as_the_average_pair() -> None:
    written = {("a", "b"): 0.9, ("a", "c"): 0.05, ("b", "c"): 0.05}
    drawn = [draw_pair(policies(a=1, b=1, c=1, d=1), written) for _ in range(DRAWS)]
    with_d = sum("d" in {left.id, right.id} for left, right in drawn)
    assert with_d / DRAWS == pytest.approx(0.5, abs=0.03)


def test_who_is_no_contestant_is_not_drawn_whatever_was_written(visitor: Visitor) -> None:
    gone = PolicyFactory(id="gone", status=ContestantStatus.RETIRED)
    PairChance.objects.create(one_id="alpha", other=gone, chance=0.99)
    PairChance.objects.create(one_id="alpha", other_id="beta", chance=0.01)
    for _ in range(10):
        battle = battle_row(visitor.open())
        assert {battle.left_model_id, battle.right_model_id} == {"alpha", "beta"}


def test_either_side_is_as_likely_whatever_was_written() -> None:
    drawn = Counter(draw_pair(policies(a=1, b=1), {("a", "b"): 1.0})[0].id for _ in range(2000))
    assert 0.45 < drawn["a"] / 2000 < 0.55
