"""Who leads the board of physics in simulation, as `manage.py ranking_study --only orders` tells it."""

from __future__ import annotations

import pytest

from rankings.study.success_rates import LEADS, covered, led, unequal_numbers, unequal_tasks

REPEATS = 300


def test_the_board_is_led_by_the_best_more_often_than_rates_are() -> None:
    for make in (unequal_numbers, unequal_tasks):
        rate, board = (led(make, LEADS[name], REPEATS, seed=1) for name in ("rate", "board"))
        assert board.best > rate.best
        assert board.short < 0.8 * rate.short
        assert board.far < 0.85 * rate.far


@pytest.mark.parametrize(("least", "most"), [(5, 5), (15, 60)])
def test_the_interval_over_tasks_holds_the_truth_95_times_in_100(least: int, most: int) -> None:
    assert 0.93 <= covered(least, most, 600, seed=1) / 600 <= 0.975
