"""What Bradley-Terry ratings must not depend on, and what always holds, whatever the votes."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rankings.fit.bradley_terry import Fit, fit
from rankings.tally.counts import OUTCOMES, Ballot, tally
from tests.rankings.ballots import mirrored

NAMES = ("ant", "bee", "cat", "dog", "eel")
VOTES = st.lists(
    st.builds(
        lambda pair, outcome, voter: Ballot(*pair, outcome, voter),
        st.permutations(NAMES).map(lambda names: names[:2]),
        st.sampled_from(OUTCOMES),
        st.sampled_from([None, "v1", "v2", "v3"]),
    ),
    max_size=40,
)
STEADY = settings(deadline=None, derandomize=True, max_examples=60)
"""The same examples every time, and all the time that a busy machine needs."""
PRIOR = st.sampled_from([0.0, 0.5, 1.0])


def same(one: Fit, other: Fit) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("rating", "half_width", "difference_sd")
    )


@STEADY
@given(votes=VOTES, prior=PRIOR, seed=st.integers())
def test_the_order_of_the_rows_changes_no_bit(votes: list[Ballot], prior: float, seed: int) -> None:
    shuffled = random.Random(seed).sample(votes, len(votes))
    assert same(fit(tally(votes), prior=prior), fit(tally(shuffled), prior=prior))


@STEADY
@given(votes=VOTES, prior=PRIOR, swaps=st.lists(st.booleans(), min_size=40, max_size=40))
def test_who_stood_on_which_side_changes_no_bit(votes: list[Ballot], prior: float, swaps: list[bool]) -> None:
    swapped = [mirrored(vote) if swap else vote for vote, swap in zip(votes, swaps, strict=False)]
    assert same(fit(tally(votes), prior=prior), fit(tally(swapped), prior=prior))


@STEADY
@given(votes=VOTES, prior=PRIOR, names=st.permutations(NAMES))
def test_names_are_only_names(votes: list[Ballot], prior: float, names: list[str]) -> None:
    new = dict(zip(NAMES, names, strict=True))
    renamed = [Ballot(new[vote.left], new[vote.right], vote.outcome, vote.voter) for vote in votes]
    one, other = fit(tally(votes), prior=prior), fit(tally(renamed), prior=prior)
    there = [other.names.index(new[name]) for name in one.names]
    np.testing.assert_allclose(one.rating, other.rating[there], atol=1e-6)
    np.testing.assert_allclose(one.half_width, other.half_width[there], atol=1e-6)


@STEADY
@given(votes=VOTES, prior=PRIOR)
def test_a_newcomer_without_a_vote_changes_nobody(votes: list[Ballot], prior: float) -> None:
    before, after = fit(tally(votes), prior=prior), fit(tally(votes, names=["newcomer"]), prior=prior)
    there = [after.names.index(name) for name in before.names]
    np.testing.assert_allclose(after.rating[there], before.rating, atol=1e-6)
    np.testing.assert_allclose(after.half_width[there], before.half_width, atol=1e-6)
    assert after.rating[after.names.index("newcomer")] == 1500


@STEADY
@given(votes=VOTES)
def test_ratings_are_finite_and_no_interval_has_zero_width(votes: list[Ballot]) -> None:
    found = fit(tally(votes))
    assert np.isfinite(found.rating).all()
    assert np.isfinite(found.half_width).all()
    assert (found.half_width > 1).all()


@STEADY
@given(votes=VOTES, prior=PRIOR)
def test_the_weighed_mean_of_those_who_can_be_compared_is_1500(votes: list[Ballot], prior: float) -> None:
    found = fit(tally(votes), prior=prior)
    for component in found.components():
        places = [found.names.index(name) for name in component]
        if found.weight[places].any():
            np.testing.assert_allclose(found.rating[places] @ found.weight[places], 1500, atol=1e-6)
            np.testing.assert_allclose(found.weight[places].sum(), 1)


@STEADY
@given(votes=VOTES)
def test_taking_voters_together_never_narrows_an_interval(votes: list[Ballot]) -> None:
    counts = tally(votes)
    assert (fit(counts).half_width >= fit(counts, cluster=False).half_width - 1e-9).all()


@STEADY
@given(votes=VOTES.filter(bool), winner=st.sampled_from(NAMES))
def test_ten_more_wins_never_lower_the_winner(votes: list[Ballot], winner: str) -> None:
    loser = next(name for name in (votes[0].left, votes[0].right) if name != winner)
    before = fit(tally(votes, names=[winner, loser]), cluster=False)
    after = fit(tally([*votes, *[Ballot(winner, loser, "left_better")] * 10]), cluster=False)

    def lead(found: Fit) -> float:
        return float(found.rating[found.names.index(winner)] - found.rating[found.names.index(loser)])

    assert lead(after) > lead(before)
