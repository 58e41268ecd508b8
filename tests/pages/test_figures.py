"""Lines and dots of the drawn figures stand where their numbers say, and labels do not cover each other."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from rankings.pages.figures import HEIGHT, LABEL_GAP, WIDTH, calibration_marks, heat, trend
from rankings.publication.report import Point

NAMES = {f"p{number}": f"Policy {number}" for number in range(12)}


def points(*ratings: dict[str, float]) -> list[Point]:
    return [
        {"at": f"2026-01-0{day}T12:00:00+00:00", "ratings": {name: [value, 30.0] for name, value in each.items()}}
        for day, each in enumerate(ratings, start=1)
    ]


def test_a_higher_rating_stands_higher_and_later_stands_to_the_right() -> None:
    drawn = trend(points({"p0": 1500, "p1": 1400}, {"p0": 1600, "p1": 1400}), NAMES)
    assert drawn is not None
    one, other = drawn.lines
    (x0, y0), (x1, y1) = (tuple(map(float, pair.split(","))) for pair in one.points.split())
    assert x0 < x1
    assert y0 > y1
    assert float(other.end_y) > y1
    assert (one.name, one.first, one.last) == ("Policy 0", 1500, 1600)
    assert all(0 <= float(tick.at) <= HEIGHT for tick in drawn.ratings)
    assert all(0 <= float(tick.at) <= WIDTH for tick in drawn.days)


def test_labels_of_equal_ratings_do_not_cover_each_other() -> None:
    same = dict.fromkeys(NAMES, 1500.0)
    drawn = trend(points(same, same), NAMES)
    assert drawn is not None
    heights = sorted(float(line.label_y) for line in drawn.lines)
    assert all(below - above >= LABEL_GAP - 0.11 for above, below in itertools.pairwise(heights))
    assert heights[-1] <= HEIGHT


def test_only_the_best_eight_are_drawn() -> None:
    rated = {name: 1500.0 + number for number, name in enumerate(NAMES)}
    drawn = trend(points(rated, rated), NAMES)
    assert drawn is not None
    assert [line.name for line in drawn.lines] == [f"Policy {number}" for number in range(11, 3, -1)]


@pytest.mark.parametrize("few", [[], points({"p0": 1500}), points({"gone": 1500}, {"gone": 1500})])
def test_with_fewer_than_two_points_of_a_listed_policy_nothing_is_drawn(few: list[Point]) -> None:
    assert trend(few, NAMES) is None


def test_a_dot_on_the_line_is_a_good_prediction() -> None:
    row: Any = {"predicted": 0.75, "actual": 0.75, "actual_low": 0.7, "actual_high": 0.8, "votes": 4}
    better: Any = {**row, "actual": 0.9, "actual_low": 0.85, "actual_high": 0.95, "votes": 16}
    low, high = calibration_marks([row, better])
    assert float(high.y) < float(low.y)
    assert float(low.high_y) < float(low.y) < float(low.low_y)
    assert float(high.radius) > float(low.radius)
    assert calibration_marks([]) == []


def test_heat_goes_from_always_lost_to_always_won() -> None:
    assert [heat(rate) for rate in (None, 0.0, 0.5, 0.94, 1.0)] == ["none", "0", "5", "9", "10"]
