"""Does a voter vote like everybody else? A test that may look after every vote. No Django.

For each vote, the others' votes on the same pair say how likely each outcome was: p. A way of voting that is none of
theirs (always the left side, always for one policy, at random, contrary to all) says something else: q. A bettor who
puts q / p on every vote wins nothing in the long run against who votes like the others, and a fortune against who does
not. Starting with 1, spread over all such ways, the fortune E is a test martingale: whoever votes like the others takes
it to 1 / alpha with a chance of at most alpha, however often one looks (Ville 1939; G. Shafer, Testing by betting,
J. R. Stat. Soc. A 184, 2021; A. Ramdas et al., Game-theoretic statistics and safe anytime-valid inference, Stat. Sci.
38, 2023). Chatbot Arena multiplies evidence per voter in the same spirit (W.-L. Chiang et al., arXiv 2403.04132).

p is an estimate, with the ratings' prediction worth PRIOR_VOTES in it; pairs on which others cast fewer than
LEAST_OTHERS votes are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankings.bradley_terry import SCALE
from rankings.counts import MIRRORED, OUTCOMES, Floats, Integers
from rankings.posterior import sigmoid

PRIOR_VOTES = 6.0
LEAST_OTHERS = 5
LEAST_VOTES = 5
"""Fewer votes of one voter prove nothing."""
STUBBORN = 0.8
"""How often a way of voting gives its answer; otherwise it votes like the others."""
ALPHA = 0.001


@dataclass(frozen=True)
class Evidence:
    """The highest fortune reached, after how many votes, and the way of voting that won most of it."""

    log10_e: float
    votes: int
    way: str

    def suspicious(self, alpha: float = ALPHA) -> bool:
        return self.votes >= LEAST_VOTES and self.log10_e >= -np.log10(alpha)


@dataclass(frozen=True)
class Crowd:
    """What everybody's votes say. `outcomes` (k, k, 4): left policy's row, right one's column, outcomes as in OUTCOMES.
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


def evidence(crowd: Crowd, left: Integers, right: Integers, cast: Integers) -> Evidence:
    """Of one voter's votes in the order they were cast: (n,) policies' places and outcomes' places."""
    p, others = crowd.expectations(left, right, cast)
    kept = others >= LEAST_OTHERS
    left, right, cast, p = left[kept], right[kept], cast[kept], p[kept]
    if not len(cast):
        return Evidence(0.0, 0, "")
    ways, gains = _gains(crowd.names, left, right, cast, p)
    weights = _weights(len(ways))
    fortune = np.cumsum(gains, axis=0) + np.log(weights)  # (n, ways)
    top = fortune.max(axis=1, keepdims=True)
    together = top[:, 0] + np.log(np.exp(fortune - top).sum(axis=1))
    best = int(np.argmax(together))
    return Evidence(float(together[best] / np.log(10.0)), best + 1, ways[int(np.argmax(fortune[best]))])


def _weights(ways: int) -> Floats:
    """(ways,) the six ways that name no policy start with half of the money, all others with the other half."""
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
    found: Floats = np.log(np.where(as_told, STUBBORN / seen, 0.0) + 1.0 - STUBBORN)
    return found
