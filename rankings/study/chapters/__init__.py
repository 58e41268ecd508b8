"""The chapters of the study, in their order."""

from __future__ import annotations

from collections.abc import Callable

from rankings.study.chapters import (
    agreement,
    calibration,
    crowds,
    influence,
    intervals,
    newcomer,
    order,
    orders,
    posterior,
    settled,
    starts,
    stuffing,
    suspicion,
    terms,
)
from rankings.study.chapters.form import Chapter

CHAPTERS: dict[str, Callable[[int], Chapter]] = {
    "intervals": intervals.chapter,
    "stuffing": stuffing.chapter,
    "newcomer": newcomer.chapter,
    "order": order.chapter,
    "orders": orders.chapter,
    "crowds": crowds.chapter,
    "starts": starts.chapter,
    "settled": settled.chapter,
    "terms": terms.chapter,
    "posterior": posterior.chapter,
    "agreement": agreement.chapter,
    "calibration": calibration.chapter,
    "influence": influence.chapter,
    "suspicion": suspicion.chapter,
}
"""Name -> what simulates it, so many times."""
