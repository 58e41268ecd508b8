"""Interval bars: one scale for all, the mean on it, every mark inside."""

from __future__ import annotations

from typing import Any

import pytest

from rankings.pages.charts import MarkedRow, with_marks


def row(score: int, half_width: float) -> Any:
    return {
        "model_id": f"rated-{score}",
        "parameters": None,
        "vote_count": 40,
        "both_bad_count": 6,
        "elo_score": score,
        "elo_ci": half_width,
        "elo_low": score - half_width,
        "elo_high": score + half_width,
        "elo_weight": None,
        "win_rate": 0.625,
        "rank_low": None,
        "rank_high": None,
        "flags": [],
    }


def marked_rows(rows: list[Any], exposure: Any = None) -> list[MarkedRow]:
    return with_marks(rows, exposure or {}, {}, lambda model_id: None)


def number(mark: str) -> float:
    return float(mark.removesuffix("%"))


def marks(marked: MarkedRow) -> list[float]:
    return [number(mark) for mark in (marked.low, marked.middle, marked.high)]


def test_marks_stand_in_order_and_inside_the_picture() -> None:
    for marked in marked_rows([row(1620, 40), row(1400, 120), row(1500, 681)]):
        low, middle, high = marks(marked)
        assert 0 < low < middle < high < 100


def test_equal_ratings_stand_at_the_same_place_whatever_their_intervals() -> None:
    narrow, wide = marked_rows([row(1540, 20), row(1540, 200)])
    assert narrow.middle == wide.middle
    assert number(wide.high) - number(wide.low) > number(narrow.high) - number(narrow.low)


def test_the_mean_is_shown_even_where_no_interval_reaches_it() -> None:
    marked = marked_rows([row(1800, 10)])[0]
    assert 0 < number(marked.mean) < number(marked.low)


def test_marks_are_written_with_a_point_and_percentages_are_whole() -> None:
    marked = marked_rows([row(1510, 33.6)])[0]
    assert "," not in marked.low + marked.middle + marked.high + marked.mean
    assert (marked.win_percent, marked.half_width) == (62, 34)


def test_what_was_published_stands_beside_a_row() -> None:
    drawn: Any = {"battles": 9, "relative": 1.2, "planned": 0.8}
    rated = row(1510, 33) | {"rank_low": 2, "rank_high": 4, "flags": ["no_upper_bound"]}
    marked, other = marked_rows([rated, row(1490, 33)], {"rated-1510": drawn})
    assert (marked.ranks, marked.one_sided, marked.exposure) == ("2–4", True, drawn)
    assert (other.ranks, other.one_sided, other.exposure) == ("", False, None)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [(None, ""), (900, "900"), (3_200_000, "3.2 M"), (93_000_000, "93 M"), (7_541_237_184, "7.5 B")],
)
def test_sizes_are_written_as_people_speak_of_them(parameters: int | None, text: str) -> None:
    assert marked_rows([{**row(1500, 10), "parameters": parameters}])[0].size == text


def test_an_empty_board_has_no_marks() -> None:
    assert marked_rows([]) == []
