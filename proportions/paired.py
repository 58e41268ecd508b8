"""Two that tried the same episodes: by how much one succeeds more often, and whether that is chance.

Of each pair of episodes four outcomes are possible: both reach the goal, only the first does, only the second, neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from proportions import Z95

HALVINGS = 60
"""Of an interval of length 2: what is left is less than a float tells."""


class Difference(TypedDict):
    """The success of the first less that of the second, -1..1, with a 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class PairedCounts:
    """Pairs by their outcome. Raises ValueError for negative counts."""

    both: float = 0
    first: float = 0
    second: float = 0
    neither: float = 0

    def __post_init__(self) -> None:
        if min(self.both, self.first, self.second, self.neither) < 0:
            raise ValueError(f"expected counts from 0, got {self}")

    @property
    def pairs(self) -> float:
        return self.both + self.first + self.second + self.neither

    @property
    def alike(self) -> float:
        return self.both + self.neither

    @property
    def difference(self) -> float:
        """Of no pairs 0."""
        return (self.first - self.second) / self.pairs if self.pairs else 0.0

    def times(self, factor: float) -> PairedCounts:
        return PairedCounts(*(factor * count for count in (self.both, self.first, self.second, self.neither)))


def mcnemar_exact(first: int, second: int) -> float:
    """Two-sided p of the exact test of McNemar: of the pairs that only one of both won, each is as likely to have won.

    Twice the smaller tail of the binomial distribution with 1/2, at most 1 (Q. McNemar, Psychometrika 12, 1947, p. 153;
    exact form: A. Agresti, Categorical Data Analysis, 3rd ed., 11.1.2). Raises ValueError for negative counts.
    """
    if min(first, second) < 0:
        raise ValueError(f"expected counts from 0, got {first} and {second}")
    both = first + second
    tail = sum(math.comb(both, count) for count in range(min(first, second) + 1))
    return float(min(1.0, 2 * tail / 2**both))


def tango_interval(counts: PairedCounts) -> Difference:
    """95 % score interval of the difference (T. Tango, Statistics in Medicine 17, 1998, p. 891, equation 6 ff.): the
    differences d for which |first - second - n d| <= z sqrt(n (2 q(d) + d (1 - d))), where q(d) is the most likely
    share of pairs that only the second won. Raises ValueError for no pairs.
    """
    if not counts.pairs:
        raise ValueError("expected at least one pair")
    low = _end(lambda d: _score(counts, d) <= Z95, -1.0, counts.difference)
    high = _end(lambda d: _score(counts, d) >= -Z95, 1.0, counts.difference)
    return {"estimate": counts.difference, "low": low, "high": high}


def likeliest(counts: PairedCounts, difference: float) -> tuple[float, float]:
    """The most likely shares of pairs that only the first and only the second won, given their difference -1..1: the
    larger root of a quadratic (Tango, as above).
    """
    d, n = difference, counts.pairs
    linear = -counts.first - counts.second + (2 * n - counts.first + counts.second) * d
    root = math.sqrt(max(0.0, linear**2 + 8 * n * counts.second * d * (1 - d)))
    second = min(max((root - linear) / (4 * n), max(0.0, -d)), (1 - d) / 2)
    return second + d, second


def _score(counts: PairedCounts, difference: float) -> float:
    d, n = difference, counts.pairs
    _, second = likeliest(counts, d)
    above = counts.first - counts.second - n * d
    square = n * (2 * second + d * (1 - d))
    if square <= 1e-12 * n:
        return math.copysign(math.inf, above) if abs(above) > 1e-9 * n else 0.0
    return above / math.sqrt(square)


def _end(inside: Callable[[float], bool], outer: float, inner: float) -> float:
    """Where `inside` ends between `inner`, at which it holds, and `outer`."""
    if inside(outer):
        return outer
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if inside(middle) else (inner, middle)
    return inner
