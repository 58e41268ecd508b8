"""An anytime-valid test for voters who vote as no honest voter would, whatever the voter's taste. No Django.

Each honest voter has a taste per policy, normal about what the others think, a habit of voting even, and a preference
for both bad or for tie. How far people differ in these is unknown: several populations are tried (HONEST), and the one
that explains the votes best counts, so that the guarantee holds for each (universal inference: L. Wasserman, A. Ramdas,
S. Balakrishnan, PNAS 117, 2020). Before each vote, the voter's earlier votes and the others' votes on the pair give the
probability p of each outcome. A dishonest way of voting (always the left side, always for one policy, at random,
contrary to all) gives another, q. A bettor who puts q / p on every vote wins nothing in the long run against an honest
voter, and a fortune against one who votes in that way. Starting with 1, spread over all such ways, the fortune E is a
test martingale: an honest voter takes it to 1 / alpha with a chance of at most alpha, at any time (Ville 1939; G.
Shafer, Testing by betting, J. R. Stat. Soc. A 184, 2021; A. Ramdas et al., Game-theoretic statistics and safe
anytime-valid inference, Stat. Sci. 38, 2023). Chatbot Arena multiplies evidence per voter in a similar way (W.-L.
Chiang et al., arXiv 2403.04132).

The belief about a voter's taste is a normal distribution, which each vote narrows (assumed density filtering: M. Opper,
in On-line Learning in Neural Networks, 1998; for the logistic: D. MacKay, Neural Computation 4, 1992). What the others
think is estimated, with the ratings' prediction worth PRIOR_VOTES; pairs on which others cast fewer than LEAST_OTHERS
votes are left out. docs/ranking-study.md says how often honest voters are suspected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE
from rankings.fit.posterior import sigmoid
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import MIRRORED, OUTCOMES

PRIOR_VOTES = 6.0
LEAST_OTHERS = 5
LEAST_VOTES = 5
"""A voter with fewer votes is never suspicious."""
STUBBORN = 0.8
"""How often a way of voting gives its answer; otherwise it votes like the others."""
ALPHA = 0.001


class VoterSpread(NamedTuple):
    """Standard deviations among voters. `taste`: Elo points per policy, somewhat more than is likely, since p is an
    estimate. Of preferences for the left `side`, for `even` votes, and for both `bad` among these: log odds."""

    taste: float
    side: float
    even: float
    bad: float


HONEST = (VoterSpread(120.0, 0.2, 0.6, 1.0), VoterSpread(250.0, 0.2, 0.6, 1.0), VoterSpread(250.0, 0.3, 0.9, 1.5))
"""Populations of honest voters. Only a voter whose votes none of them explains is suspicious."""
CLEARER, CLEARER_HABIT = 0.7, 0.5
"""The slope of the log odds of an even vote in those that the pair is close, and its standard deviation among voters.
The slope is 1 with ties as in `study.voters`, 1/2 with Davidson's."""
WORTH_A_LOOK = 1.0
"""The log10 of the fortune against the others' votes alone from which tastes are taken into account."""


@dataclass(frozen=True)
class OutlierEvidence:
    """The log10 of the highest fortune, after how many votes, and the way of voting that won most of it."""

    log10_e: float
    votes: int
    way: str

    def suspicious(self, alpha: float = ALPHA) -> bool:
        return self.votes >= LEAST_VOTES and self.log10_e >= -np.log10(alpha)


@dataclass(frozen=True)
class PooledVotes:
    """The votes of all voters. `outcomes` (k, k, 4): left policy's row, right one's column, outcomes as in OUTCOMES.
    `rating` (k,) Elo points."""

    names: tuple[str, ...]
    outcomes: Integers
    rating: Floats

    def expectations(self, left: Integers, right: Integers, cast: Integers) -> tuple[Floats, Integers]:
        """For a voter's votes `cast` (n,) on left (n,) and right (n,): (n, 4) how likely each outcome was by the others
        and the ratings, and (n,) how many votes of others there are on the pair."""
        both = self.outcomes + self.outcomes.transpose(1, 0, 2)[:, :, MIRRORED]
        own = np.zeros_like(both)
        np.add.at(own, (left, right, cast), 1)
        mirrored = np.array(MIRRORED)[cast]
        np.add.at(own, (right, left, mirrored), 1)
        others = np.maximum(both[left, right] - own[left, right], 0)
        number = others.sum(axis=1)
        found = (others + PRIOR_VOTES * self._predicted(left, right)) / (number + PRIOR_VOTES)[:, None]
        return found, number

    def _predicted(self, left: Integers, right: Integers) -> Floats:
        """(n, 4) by the ratings, with the shares of ties and of both bad that all pairs have; none below 2 %."""
        total = self.outcomes.sum(axis=(0, 1)) + 1.0
        tie, both_bad = total[2] / total.sum(), total[3] / total.sum()
        ahead = sigmoid((self.rating[left] - self.rating[right]) / SCALE)
        decided = 1.0 - tie - both_bad
        columns = [decided * ahead, decided * (1.0 - ahead), np.full(len(left), tie), np.full(len(left), both_bad)]
        found = np.maximum(np.stack(columns, axis=1), 0.02)
        shares: Floats = found / found.sum(axis=1, keepdims=True)
        return shares


def evidence(
    crowd: PooledVotes, left: Integers, right: Integers, cast: Integers, *, enough: float = ALPHA
) -> OutlierEvidence:
    """Of one voter's votes in the order they were cast: (n,) places of policies and of outcomes.

    Against the honest population that explains them best. Once one explains them so well that they are not suspicious
    at `enough`, no other is tried.
    """
    p, others = crowd.expectations(left, right, cast)
    kept = others >= LEAST_OTHERS
    left, right, cast, p = left[kept], right[kept], cast[kept], p[kept]
    if not len(cast):
        return OutlierEvidence(0.0, 0, "")
    at_a_glance = _fortune(crowd.names, left, right, cast, p)
    if at_a_glance.log10_e < WORTH_A_LOOK:
        return at_a_glance
    found = at_a_glance
    for people in HONEST:
        own = _with_taste(people, left, right, cast, p, others[kept])
        found = min(found, _fortune(crowd.names, left, right, cast, own), key=lambda each: each.log10_e)
        if not found.suspicious(enough):
            return found
    return found


def _fortune(names: tuple[str, ...], left: Integers, right: Integers, cast: Integers, p: Floats) -> OutlierEvidence:
    """`p` (n, 4): how likely each outcome was before each vote."""
    ways, gains = _gains(names, left, right, cast, p)
    weights = _weights(len(ways))
    fortune = np.cumsum(gains, axis=0) + np.log(weights)  # (n, ways)
    top = fortune.max(axis=1, keepdims=True)
    together = top[:, 0] + np.log(np.exp(fortune - top).sum(axis=1))
    best = int(np.argmax(together))
    return OutlierEvidence(float(together[best] / np.log(10.0)), best + 1, ways[int(np.argmax(fortune[best]))])


def _with_taste(
    people: VoterSpread, left: Integers, right: Integers, cast: Integers, p: Floats, others: Integers
) -> Floats:
    """(n, 4) how likely each outcome was for an honest voter who had voted so before. `p`: for all voters together."""
    met, places = np.unique(np.concatenate([left, right]), return_inverse=True)
    here, there = places[: len(left)], places[len(left) :]
    even = p[:, 2] + p[:, 3]
    decided, unsure = p[:, 0] / (1.0 - even), 1.0 / (others + PRIOR_VOTES)
    # Ties take from both sides alike, so that a taste tells more in what is decided.
    taste = people.taste / SCALE / (1.0 - min(0.6, float(even.mean())))
    margin = _logit(decided) * _widened(2.0 * taste**2)
    liking = VoterBelief(np.append(np.full(len(met), taste**2), people.side**2))
    saying_even = VoterBelief(np.array([people.even**2, CLEARER_HABIT**2]))
    saying_bad = VoterBelief(np.array([people.bad**2]))
    odds_even, odds_bad, alone, both = _logit(even), _logit(p[:, 3] / even), np.zeros(1, np.int64), np.arange(2)
    found = np.zeros_like(p)
    for vote, outcome in enumerate(cast.tolist()):
        doubt = float(unsure[vote])
        sides = np.array([here[vote], there[vote], len(met)])
        is_left = liking.chance(margin[vote], sides, AGAINST, 4.0 * doubt)
        # Who likes one of the two more than others do says even less often.
        clearer = _closeness(is_left) - _closeness(float(decided[vote]))
        is_even = saying_even.chance(
            odds_even[vote] + CLEARER * clearer,
            both,
            np.array([1.0, clearer]),
            doubt / max(float(even[vote] * (1 - even[vote])), 0.02),
        )
        is_bad = saying_bad.chance(odds_bad[vote], alone, ONE, 0.0)
        found[vote] = [
            (1.0 - is_even) * is_left,
            (1.0 - is_even) * (1.0 - is_left),
            is_even * (1.0 - is_bad),
            is_even * is_bad,
        ]
        saying_even.learn(outcome > 1)
        if outcome > 1:
            saying_bad.learn(outcome == 3)
        else:
            liking.learn(outcome == 0)
    return np.maximum(found, 1e-6)


ONE, AGAINST = np.array([1.0]), np.array([1.0, -1.0, 1.0])


class VoterBelief:
    """A normal distribution of a voter's preferences [log odds]; `variance` (n,) before the first vote."""

    def __init__(self, variance: Floats) -> None:
        self._mean, self._covariance = np.zeros(len(variance)), np.diag(variance)
        self._step, self._p, self._shrunk = np.zeros(len(variance)), 0.5, 1.0

    def chance(self, log_odds: float, places: Integers, signs: Floats, doubt: float) -> float:
        """Of yes, where the preferences at `places` count by `signs`. `doubt`: the variance of `log_odds`."""
        self._step = self._covariance[:, places] @ signs
        spread = float(self._step[places] @ signs)
        self._shrunk = 1.0 / _widened(spread + doubt)
        self._p = float(sigmoid(np.array(self._shrunk * (log_odds + self._mean[places] @ signs))))
        return self._p

    def learn(self, yes: bool) -> None:
        """Update with the outcome of the last `chance`."""
        self._mean = self._mean + self._step * (self._shrunk * (float(yes) - self._p))
        self._covariance = self._covariance - np.outer(self._step, self._step) * (
            self._shrunk**2 * self._p * (1.0 - self._p)
        )


def _closeness(p: float) -> float:
    """Of two that are decided for the left one so often: 0 between equals, below it else."""
    inside = min(max(p, 0.01), 0.99)
    return float(np.log(4.0 * inside * (1.0 - inside)))


def _widened(variance: float) -> float:
    """By how much log odds that vary so must be shrunk for their mean chance."""
    return float(np.sqrt(1.0 + np.pi * variance / 8.0))


def _logit(p: Floats) -> Floats:
    inside = np.clip(p, 0.01, 0.99)
    return np.log(inside / (1.0 - inside))


def _weights(ways: int) -> Floats:
    """(ways,) the six ways that name no policy share half of the stake, all others the other half."""
    general = len(OUTCOMES) + 2
    rest = ways - general
    return np.concatenate([np.full(general, 0.5 / general), np.full(rest, 0.5 / max(1, rest))])


def _gains(
    names: tuple[str, ...], left: Integers, right: Integers, cast: Integers, p: Floats
) -> tuple[list[str], Floats]:
    """The ways of voting, and (n, ways) log of q / p for what was cast."""
    seen = p[np.arange(len(cast)), cast]
    ways, columns = [], []
    for place, outcome in enumerate(OUTCOMES):
        ways.append(f"always {outcome}")
        columns.append(_stubborn(cast == place, seen))
    ways.append("at random")
    columns.append(np.log(0.25 / seen))
    ways.append("contrary to the others")
    contrary = p[np.arange(len(cast)), np.array(MIRRORED)[cast]]
    columns.append(np.log(STUBBORN * contrary / seen + 1.0 - STUBBORN))
    for policy in np.unique(np.concatenate([left, right])).tolist():
        there = (left == policy) | (right == policy)
        wins = np.where(left == policy, cast == 0, cast == 1)
        loses = np.where(left == policy, cast == 1, cast == 0)
        ways += [f"always for {names[policy]}", f"always against {names[policy]}"]
        columns += [np.where(there, _stubborn(wins, seen), 0.0), np.where(there, _stubborn(loses, seen), 0.0)]
    return ways, np.stack(columns, axis=1)


def _stubborn(as_told: np.ndarray, seen: Floats) -> Floats:
    """(n,) log gain of betting STUBBORN on one outcome and the rest like the others."""
    return np.log(np.where(as_told, STUBBORN / seen, 0.0) + 1.0 - STUBBORN)
