"""Which pairs are settled, however often one looks? Numbers in, numbers out, no Django.

A board is looked at every hour, and whoever stops at the first look that pleases is wrong more often than a 95 %
interval says. So a pair is settled by a sequential test: with d the difference of two ratings, V its variance and the
true difference spread as N(0, T²) under the alternative, the likelihood ratio against "equal" is

    log E = 1/2 log(V / (V + T²)) + d²/2 (1/V - 1/(V + T²)),

a martingale under "equal" as far as d is normal with variance V at each look. It reaches 1 / alpha with a chance of at
most alpha, at whatever look (J. Ville 1939; the normal mixture: H. Robbins, Statistical methods related to the law of
the iterated logarithm, Ann. Math. Stat. 41 (1970)). That d is only asymptotically normal is the case of
I. Waudby-Smith, D. Arbour, R. Sinha, E. Kennedy, A. Ramdas, Time-uniform central limit theory and asymptotic confidence
sequences, Ann. Stat. 52 (2024). All differences that E does not refute at a look are the confidence sequence.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.bradley_terry import SCALE, Fit
from rankings.counts import Floats
from rankings.graph import Booleans
from rankings.posterior import sigmoid

ALPHA = 0.05
SPREAD = 150.0 * math.sqrt(2.0)
"""T [Elo points]: of the difference of two policies whose ratings are spread by 150."""
ALIKE = 25.0
"""Elo points within which two are as good as equal: at most 53.6 wins in 100."""
MOST = 1000
"""More votes than that are not foretold."""
HALVINGS = 60

BETTER, WORSE, EQUAL, OPEN = "better", "worse", "equal", "open"


class Settled(TypedDict):
    """Each matrix in the order of `names`, a row's policy against a column's; null where nothing is known, which is so
    for pairs that no votes connect and for a policy with itself.

    `verdicts`: "better" or "worse" where the pair is settled, "equal" where the two are within `alike` points, "open"
    otherwise. `differences` [Elo points], `half_widths` of the confidence sequence around them, `deviations`: standard
    deviations. `votes_to_go`: about how many more votes on an open pair would settle it, if the difference is what it
    seems; null beyond 1000. `settled` of `pairs` pairs are not open. `error`: the chance that a pair is ever called
    settled though the two are equal or the other way round.
    """

    error: float
    alike: float
    settled: int
    pairs: int
    names: list[str]
    verdicts: list[list[str | None]]
    differences: list[list[float | None]]
    half_widths: list[list[float | None]]
    deviations: list[list[float | None]]
    votes_to_go: list[list[int | None]]


@dataclass(frozen=True)
class Rule:
    """`error`: how often a pair that is truly equal is ever called settled. `spread`, `alike`: Elo points."""

    error: float = ALPHA
    spread: float = SPREAD
    alike: float = ALIKE

    def log_evidence(self, difference: Floats, variance: Floats) -> Floats:
        """log E against "equal", elementwise; minus infinity where the variance is infinite or nothing."""
        known = np.isfinite(variance) & (variance > 0)
        v, wide = np.where(known, variance, 1.0), np.where(known, variance, 1.0) + self.spread**2
        found = 0.5 * np.log(v / wide) + difference**2 / 2.0 * (1.0 / v - 1.0 / wide)
        return np.where(known, found, -np.inf)

    def half_width(self, variance: Floats) -> Floats:
        """Elo points about the difference that E does not refute, elementwise."""
        known = np.isfinite(variance) & (variance > 0)
        v = np.where(known, variance, 1.0)
        room = 2.0 * math.log(1.0 / self.error) + np.log1p(self.spread**2 / v)
        return np.where(known, np.sqrt(v * (v + self.spread**2) / self.spread**2 * room), np.inf)

    def different(self, difference: Floats, variance: Floats) -> Booleans:
        found: Booleans = self.log_evidence(difference, variance) >= math.log(1.0 / self.error)
        return found

    def equal(self, difference: Floats, variance: Floats) -> Booleans:
        found: Booleans = np.abs(difference) + self.half_width(variance) <= self.alike
        return found

    def settles(self, difference: Floats, variance: Floats) -> Booleans:
        found: Booleans = self.different(difference, variance) | self.equal(difference, variance)
        return found

    def enough(self, difference: Floats, variance: Floats) -> Floats:
        """The variance at which the same difference is settled, elementwise: at most `variance`.

        What settles a pair keeps settling it as the variance shrinks, so that halving the interval finds the border.
        """
        low, high = np.log(np.maximum(variance, 1e-12)) - 40.0, np.log(np.maximum(variance, 1e-12))
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            done = self.settles(difference, np.exp(middle))
            low, high = np.where(done, middle, low), np.where(done, high, middle)
        found: Floats = np.exp(low)
        return found


RULE = Rule()


def verdicts(found: Fit, rule: Rule = RULE) -> list[list[str | None]]:
    """(k, k) of BETTER, WORSE, EQUAL and OPEN in the order of the fit; None where nothing is known."""
    difference, variance = _differences(found), found.difference_sd**2
    different, equal, known = rule.different(difference, variance), rule.equal(difference, variance), _known(found)
    words = np.where(different, np.where(difference > 0, BETTER, WORSE), np.where(equal, EQUAL, OPEN)).tolist()
    return [[word if here else None for word, here in zip(*row, strict=True)] for row in zip(words, known, strict=True)]


def votes_to_go(found: Fit, rule: Rule = RULE) -> Floats:
    """(k, k) about how many more votes on a pair, each weighing one, settle it if the difference stays what it is.

    n votes of information w = p (1 - p) / SCALE² each add n w to that of the difference, P being its variance by the
    model. The variance V with what voters have in common is taken to shrink alike: to V / (1 + n w P).
    """
    difference, variance = _differences(found), found.difference_sd**2
    p = sigmoid(difference / SCALE)
    own = np.diag(found.posterior)
    by_model = np.maximum(own[:, None] + own[None, :] - 2.0 * found.posterior, 1e-9)
    known = _known(found)
    v = np.where(known, variance, 1.0)
    needed = (v / rule.enough(difference, v) - 1.0) / (p * (1.0 - p) / SCALE**2 * by_model)
    return np.where(known, np.maximum(0.0, needed), np.inf)


def told(found: Fit, rule: Rule = RULE) -> Settled:
    """All of it, best rating first."""
    order = sorted(range(len(found.names)), key=lambda place: (-found.rating[place], found.names[place]))
    words, known = verdicts(found, rule), _known(found)
    words = [[words[one][other] for other in order] for one in order]
    half_width = np.where(known, rule.half_width(found.difference_sd**2), np.inf)
    chosen = np.ix_(order, order)
    above = [words[one][other] for one in range(len(order)) for other in range(one + 1, len(order))]
    compared = [word for word in above if word is not None]
    to_go = votes_to_go(found, rule)[chosen].tolist()
    return {
        "error": rule.error,
        "alike": rule.alike,
        "settled": sum(word != OPEN for word in compared),
        "pairs": len(compared),
        "names": [found.names[place] for place in order],
        "verdicts": words,
        "differences": _rounded(np.where(known, _differences(found), np.inf)[chosen]),
        "half_widths": _rounded(half_width[chosen]),
        "deviations": _rounded(np.where(known, found.difference_sd, np.inf)[chosen]),
        "votes_to_go": [
            [sensibly(number) if word == OPEN else None for number, word in zip(*row, strict=True)]
            for row in zip(to_go, words, strict=True)
        ],
    }


def only(whole: Settled, names: Collection[str]) -> Settled:
    """Some of its policies, in the same order."""
    kept = [place for place, name in enumerate(whole["names"]) if name in names]
    words = [[whole["verdicts"][one][other] for other in kept] for one in kept]
    above = [words[one][other] for one in range(len(kept)) for other in range(one + 1, len(kept))]
    return {
        **whole,
        "settled": sum(word not in (None, OPEN) for word in above),
        "pairs": sum(word is not None for word in above),
        "names": [whole["names"][place] for place in kept],
        "verdicts": words,
        "differences": [[whole["differences"][one][other] for other in kept] for one in kept],
        "half_widths": [[whole["half_widths"][one][other] for other in kept] for one in kept],
        "deviations": [[whole["deviations"][one][other] for other in kept] for one in kept],
        "votes_to_go": [[whole["votes_to_go"][one][other] for other in kept] for one in kept],
    }


def sensibly(votes: float) -> int | None:
    """Upwards to a multiple of 5 below 100, of 10 below 300 and of 50 beyond; None for more than MOST."""
    step = 5 if votes < 100 else 10 if votes < 300 else 50
    return max(step, math.ceil(votes / step) * step) if votes <= MOST else None


def _differences(found: Fit) -> Floats:
    """(k, k) Elo points, row less column."""
    difference: Floats = found.rating[:, None] - found.rating[None, :]
    return difference


def _known(found: Fit) -> Booleans:
    """(k, k) the two differ, and votes connect them."""
    together: Booleans = (found.group[:, None] == found.group[None, :]) & np.isfinite(found.difference_sd)
    return together & ~np.eye(len(found.names), dtype=bool)


def _rounded(values: Floats) -> list[list[float | None]]:
    return [[round(value, 1) + 0.0 if math.isfinite(value) else None for value in row] for row in values.tolist()]
