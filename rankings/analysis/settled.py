"""Which pairs are settled, however often one looks? Numbers in, numbers out, no Django.

A board is looked at every hour, and stopping at the first look that pleases is wrong more often than a 95 % interval
says. So a pair is settled by a sequential test: with d the difference of two ratings, V its variance and the
true difference spread as N(0, T²) under the alternative, the likelihood ratio against "equal" is

    log E = 1/2 log(V / (V + T²)) + d²/2 (1/V - 1/(V + T²)),

a martingale under "equal" as far as d is normal with variance V at each look. It reaches 1 / alpha with a chance of at
most alpha, at whatever look (J. Ville 1939; the normal mixture: H. Robbins, Statistical methods related to the law of
the iterated logarithm, Ann. Math. Stat. 41 (1970)). That d is only asymptotically normal is the case of
I. Waudby-Smith, D. Arbour, R. Sinha, E. Kennedy, A. Ramdas, Time-uniform central limit theory and asymptotic confidence
sequences, Ann. Stat. 52 (2024). All differences that E does not refute at a look are the confidence sequence.

Of a contestant that never lost the difference is large and its variance larger, so that d² / V would call nothing
settled (W. Hauck, A. Donner, Wald's test as applied to hypotheses in logit analysis, JASA 72 (1977)). So both are taken
to the scale 2 arcsin sqrt(p), p = sigmoid(d), on which a share's variance does not depend on it (M. Bartlett 1936), in
units that agree with Elo points about 0. The first few votes settle nothing: see BURN_IN."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit
from rankings.fit.posterior import sigmoid
from rankings.fit.sandwich import variance_of_differences
from rankings.tally.arrays import Booleans, Floats

T = TypeVar("T")
ALPHA = 0.05
SPREAD = 150.0 * math.sqrt(2.0)
"""T [Elo points]: of the difference of two contestants whose ratings are spread by 150."""
ALIKE = 25.0
"""Elo points within which two are as good as equal: at most 53.6 wins in 100."""
MOST = 1000
"""More votes than that are not predicted."""
HALVINGS = 60
TINY = 1e-12
BURN_IN = 80.0
"""Elo points: as long as the standard deviation that the model itself expects is larger than this, which is that of 19
votes between equals, V is not known well enough to be asked, and the pair is open."""

BETTER, WORSE, EQUAL, OPEN = "better", "worse", "equal", "open"


class Settled(TypedDict):
    """Each matrix in the order of `names`, a row's contestant against a column's; null where nothing is known, which is
    so for pairs that no votes connect and for a contestant with itself.

    `verdicts`: "better" or "worse" where the pair is settled, "equal" where the two are within `alike` points, "open"
    otherwise. `differences` [Elo points]; `lows`: the lower ends of their confidence sequence, null where it has none;
    the upper end of a difference is minus the lower end of the pair the other way round. `deviations`: standard
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
    lows: list[list[float | None]]
    deviations: list[list[float | None]]
    votes_to_go: list[list[int | None]]


@dataclass(frozen=True)
class Rule:
    """`error`: how often a pair that is truly equal is ever called settled. The others are Elo points."""

    error: float = ALPHA
    spread: float = SPREAD
    alike: float = ALIKE
    burn_in: float = BURN_IN

    def log_evidence(self, difference: Floats, variance: Floats) -> Floats:
        """log E against "equal", elementwise, of values on the steady scale; minus infinity where nothing is known."""
        known = np.isfinite(variance) & (variance > 0)
        v = np.where(known, variance, 1.0)
        wide = v + self.spread**2
        found = 0.5 * np.log(v / wide) + difference**2 / 2.0 * (1.0 / v - 1.0 / wide)
        return np.where(known, found, -np.inf)

    def half_width(self, variance: Floats) -> Floats:
        """On the steady scale: what about a difference E does not refute, elementwise."""
        known = np.isfinite(variance) & (variance > 0)
        v = np.where(known, variance, 1.0)
        room = 2.0 * math.log(1.0 / self.error) + np.log1p(self.spread**2 / v)
        return np.where(known, np.sqrt(v * (v + self.spread**2) / self.spread**2 * room), np.inf)

    def different(self, difference: Floats, variance: Floats) -> Booleans:
        return self.log_evidence(*steady(difference, variance)) >= math.log(1.0 / self.error)

    def low(self, difference: Floats, variance: Floats) -> Floats:
        """Elo points: the lower end of the confidence sequence; minus infinity where it has none."""
        middle, own = steady(difference, variance)
        return unsteady(middle - self.half_width(own))

    def equal(self, difference: Floats, variance: Floats) -> Booleans:
        inside = (self.low(difference, variance) >= -self.alike) & (self.low(-difference, variance) >= -self.alike)
        return np.asarray(inside, dtype=bool)

    def settles(self, difference: Floats, variance: Floats) -> Booleans:
        return self.different(difference, variance) | self.equal(difference, variance)

    def enough(self, difference: Floats, variance: Floats) -> Floats:
        """The variance at which the same difference is settled, elementwise: at most `variance`.

        What settles a pair keeps settling it as the variance shrinks, so that halving the interval finds the border.
        """
        low, high = np.log(np.maximum(variance, 1e-12)) - 40.0, np.log(np.maximum(variance, 1e-12))
        for _ in range(HALVINGS):
            middle = (low + high) / 2.0
            done = self.settles(difference, np.exp(middle))
            low, high = np.where(done, middle, low), np.where(done, high, middle)
        return np.exp(low)


RULE = Rule()


def steady(difference: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Elo points and their squares on the scale of 2 arcsin sqrt(p), which agrees with Elo points about 0."""
    p = sigmoid(difference / SCALE)
    angle = 2.0 * np.arcsin(np.sqrt(p)) - np.pi / 2.0
    return 2.0 * SCALE * angle, 4.0 * p * (1.0 - p) * variance


def unsteady(difference: Floats) -> Floats:
    """Back to Elo points; infinite from where p is 0 or 1."""
    angle, edge = difference / (2.0 * SCALE), np.pi / 2.0 - 1e-6
    inside = np.clip(angle, -edge, edge)
    points = 2.0 * SCALE * np.arctanh(np.sin(inside))  # p = (1 + sin) / 2
    found: Floats = np.where(np.abs(angle) < edge, points, np.copysign(np.inf, angle))
    return found


def decided(found: Fit, rule: Rule = RULE) -> tuple[Booleans, Booleans]:
    """(k, k) each: the one is better or worse than the other; the two are as good as equal."""
    difference, variance = _differences(found), found.difference_sd**2
    ready = _known(found) & (steady(difference, _by_model(found))[1] <= rule.burn_in**2)
    different = ready & rule.different(difference, variance)
    return different, ready & ~different & rule.equal(difference, variance)


def verdicts(found: Fit, rule: Rule = RULE) -> list[list[str | None]]:
    """(k, k) of BETTER, WORSE, EQUAL and OPEN in the order of the fit; None where nothing is known."""
    difference, known = _differences(found), _known(found)
    different, equal = decided(found, rule)
    words = np.where(different, np.where(difference > 0, BETTER, WORSE), np.where(equal, EQUAL, OPEN)).tolist()
    return [[word if here else None for word, here in zip(*row, strict=True)] for row in zip(words, known, strict=True)]


def votes_to_go(found: Fit, rule: Rule = RULE) -> Floats:
    """(k, k) about how many more votes on a pair, each weighing one, settle it if the difference stays what it is.

    n votes of information w = p (1 - p) / SCALE² each add n w to that of the difference, P being its variance by the
    model. The variance V with what voters have in common is taken to shrink alike: to V / (1 + n w P).
    """
    difference, known, by_model = _differences(found), _known(found), _by_model(found)
    p = sigmoid(difference / SCALE)
    variance = np.where(known, found.difference_sd**2, 1.0)
    times = variance / rule.enough(difference, variance)
    burnt_in = steady(difference, by_model)[1] / rule.burn_in**2
    needed = (np.maximum(times, burnt_in) - 1.0) / (np.maximum(p * (1.0 - p), TINY) / SCALE**2 * by_model)
    return np.where(known, np.maximum(0.0, needed), np.inf)


def published(found: Fit, names: Sequence[str], rule: Rule = RULE) -> Settled:
    """All of it. `names`: those of the fit in the order in which they stand."""
    known, words, to_go = _known(found), verdicts(found, rule), votes_to_go(found, rule).tolist()
    low = np.where(known, rule.low(_differences(found), found.difference_sd**2), -np.inf)
    whole: Settled = {
        "error": rule.error,
        "alike": rule.alike,
        "settled": 0,
        "pairs": 0,
        "names": list(found.names),
        "verdicts": words,
        "differences": _rounded(np.where(known, _differences(found), np.inf)),
        "lows": _rounded(low),
        "deviations": _rounded(np.where(known, found.difference_sd, np.inf)),
        "votes_to_go": [
            [rounded_up(number) if word == OPEN else None for number, word in zip(*row, strict=True)]
            for row in zip(to_go, words, strict=True)
        ],
    }
    return _of(whole, [found.names.index(name) for name in names])


def only(whole: Settled, names: Collection[str]) -> Settled:
    """Some of its contestants, in the same order."""
    return _of(whole, [place for place, name in enumerate(whole["names"]) if name in names])


def _of(whole: Settled, places: Sequence[int]) -> Settled:
    """Of the contestants at these places, in this order."""

    def chosen(matrix: list[list[T]]) -> list[list[T]]:
        return [[matrix[one][other] for other in places] for one in places]

    words = chosen(whole["verdicts"])
    above = [word for place, row in enumerate(words) for word in row[place + 1 :] if word is not None]
    return {
        **whole,
        "settled": len(above) - above.count(OPEN),
        "pairs": len(above),
        "names": [whole["names"][place] for place in places],
        "verdicts": words,
        "differences": chosen(whole["differences"]),
        "lows": chosen(whole["lows"]),
        "deviations": chosen(whole["deviations"]),
        "votes_to_go": chosen(whole["votes_to_go"]),
    }


def rounded_up(votes: float) -> int | None:
    """Upwards to a multiple of 5 below 100, of 10 below 300 and of 50 beyond; None for more than MOST."""
    step = 5 if votes < 100 else 10 if votes < 300 else 50
    return max(step, math.ceil(votes / step) * step) if votes <= MOST else None


def _differences(found: Fit) -> Floats:
    """(k, k) Elo points, row less column."""
    return found.rating[:, None] - found.rating[None, :]


def _by_model(found: Fit) -> Floats:
    """(k, k) Elo points squared: the variance of each difference as the model itself expects it, above 0."""
    return np.maximum(variance_of_differences(found.posterior), TINY)


def _known(found: Fit) -> Booleans:
    """(k, k) the two differ, and votes connect them."""
    together: Booleans = (found.group[:, None] == found.group[None, :]) & np.isfinite(found.difference_sd)
    return together & ~np.eye(len(found.names), dtype=bool)


def _rounded(values: Floats) -> list[list[float | None]]:
    return [[round(value, 1) + 0.0 if math.isfinite(value) else None for value in row] for row in values.tolist()]
