"""The chapters of the study, in their order."""

from __future__ import annotations

from collections.abc import Callable

from rankings.study import (
    agreement,
    calibration,
    crowds,
    influence,
    intervals,
    planning,
    settled,
    starts,
    stuffing,
    success_rates,
    suspicion,
    tasks,
    terms,
)
from rankings.study.form import Chapter

CHAPTERS: dict[str, Callable[[int], Chapter]] = {
    "intervals": intervals.chapter,
    "stuffing": stuffing.chapter,
    "newcomer": planning.newcomer_chapter,
    "order": planning.order_chapter,
    "orders": success_rates.chapter,
    "crowds": crowds.chapter,
    "starts": starts.chapter,
    "settled": settled.chapter,
    "terms": terms.chapter,
    "posterior": tasks.chapter,
    "agreement": agreement.chapter,
    "calibration": calibration.chapter,
    "influence": influence.chapter,
    "suspicion": suspicion.chapter,
}
"""Name -> what simulates it, so many times."""
