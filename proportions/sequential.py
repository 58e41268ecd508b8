"""When to stop comparing two on the same episodes, looked at after every pair without being deceived by looking often.

Both methods are mixtures of likelihood ratios, which are martingales under what they test, so that whenever one looks
the chance of ever being wrong is at most 5 % (J. Ville, 1939; H. Robbins, Annals of Mathematical Statistics 41, 1970,
p. 1397).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from proportions.paired import Difference, PairedCounts, likeliest

ALPHA = 0.05
ENOUGH = 1 / ALPHA
MOST_PAIRS = 1_000_000
"""Beyond that no number of episodes is told."""
HALVINGS = 60
Verdict = Literal["first", "second", "alike"]


class Evidence(TypedDict):
    """`e_value`: that both are not equally good; from 20 on it is settled. `p`: of the same, valid at any time.

    `difference`: with an interval that holds at all times together with 95 %. `verdict`: who is better, or "alike": by
    no more than the margin; None while it is open. `more_pairs`: a forecast of how many more pairs settle it if what
    comes is like what came; 0 once settled, None if unknown or more than a million.
    """

    e_value: float
    p: float
    difference: Difference
    verdict: Verdict | None
    more_pairs: int | None


def evidence(counts: PairedCounts, margin: float = 0.0) -> Evidence:
    """What pairs say by now. `margin` 0..1: a difference that does not matter; 0 for none. Raises ValueError."""
    if not 0 <= margin < 1:
        raise ValueError(f"expected a margin of 0 or more and less than 1, got {margin}")
    e_value = math.exp(min(700.0, log_e(counts.first, counts.second)))
    verdict = _verdict(counts, margin)
    return {
        "e_value": e_value,
        "p": min(1.0, 1 / e_value),
        "difference": anytime_interval(counts),
        "verdict": verdict,
        "more_pairs": 0 if verdict else more_pairs(counts, margin),
    }


def log_e(first: float, second: float) -> float:
    """Natural logarithm of the evidence against equally good ones, from the pairs that only one of both won.

    Each is a fair coin if they are equally good. Against it stands a coin of unknown bias with Jeffreys' prior:
    B(first + 1/2, second + 1/2) / B(1/2, 1/2) * 2^(first + second), the sequential form of McNemar's test. Counts need
    not be whole.
    """
    return _log_dirichlet((first, second)) + (first + second) * math.log(2)


def anytime_interval(counts: PairedCounts) -> Difference:
    """A 95 % confidence sequence of the difference: whatever its true value, the chance that it is ever outside is at
    most 5 %.

    The differences whose most likely outcome shares are at least 1/20 as likely as the mixture over all shares with
    Jeffreys' prior (profile form: L. Wasserman, A. Ramdas, S. Balakrishnan, PNAS 117, 2020, p. 16880, section 6).
    Without pairs -1..1.
    """
    if not counts.pairs:
        return {"estimate": 0.0, "low": -1.0, "high": 1.0}
    mixture = _log_dirichlet((counts.first, counts.second, counts.alike))

    def possible(difference: float) -> bool:
        return mixture - _log_likelihood(counts, difference) < math.log(ENOUGH)

    low, high = (_end(possible, outer, counts.difference) for outer in (-1.0, 1.0))
    return {"estimate": counts.difference, "low": low, "high": high}


def more_pairs(counts: PairedCounts, margin: float = 0.0) -> int | None:
    """How many more pairs settle it if all outcomes keep their shares. None if unknown or more than a million.

    The methods above, at counts that grow in proportion: the least growth at which there is a verdict.
    """
    if not counts.pairs:
        return None

    def settled(pairs: float) -> bool:
        return _verdict(counts.times(pairs / counts.pairs), margin) is not None

    low, high = counts.pairs, 2 * counts.pairs
    while not settled(high):
        low, high = high, 2 * high
        if high > MOST_PAIRS:
            return None
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if settled(middle) else (middle, high)
    return max(1, math.ceil(high - counts.pairs))


def _verdict(counts: PairedCounts, margin: float) -> Verdict | None:
    if log_e(counts.first, counts.second) >= math.log(ENOUGH):
        return "first" if counts.first > counts.second else "second"
    if margin and counts.pairs:
        interval = anytime_interval(counts)
        if -margin < interval["low"] and interval["high"] < margin:
            return "alike"
    return None


def _log_dirichlet(counts: Sequence[float]) -> float:
    """Logarithm of the probability of these outcomes, in their order, with Dirichlet(1/2, ...) over their shares."""
    half, kinds, total = 0.5, len(counts), sum(counts)
    known = sum(math.lgamma(count + half) - math.lgamma(half) for count in counts)
    return known + math.lgamma(half * kinds) - math.lgamma(total + half * kinds)


def _log_likelihood(counts: PairedCounts, difference: float) -> float:
    """The largest that is possible with this difference."""
    first, second = likeliest(counts, difference)
    shares = ((counts.first, first), (counts.second, second), (counts.alike, 1 - first - second))
    if any(count > 0 and share <= 0 for count, share in shares):
        return -math.inf
    return sum(count * math.log(share) for count, share in shares if count > 0)


def _end(possible: Callable[[float], bool], outer: float, inner: float) -> float:
    """Where what is possible ends between `inner`, which is, and `outer`."""
    if possible(outer):
        return outer
    for _ in range(HALVINGS):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if possible(middle) else (inner, middle)
    return outer
