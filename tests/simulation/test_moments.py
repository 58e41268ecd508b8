"""Key moments: found where something happens, spread evenly where nothing does."""

from __future__ import annotations

import numpy as np

from simulation.contracts import Floats
from simulation.moments import key_moments

ROWS = 101


def things(height: Floats | None = None, aside: Floats | None = None) -> Floats:
    """Two objects, of which the second is lifted and pushed."""
    places = np.zeros((ROWS, 2, 3))
    places[:, 1, 2] = 0 if height is None else height
    places[:, 1, 0] = 0 if aside is None else aside
    return places


def test_where_nothing_happens_the_moments_are_spread_evenly() -> None:
    assert key_moments(np.ones(ROWS), things()) in ([0, 25, 50, 100], [0, 50, 75, 100])


def test_the_grasp_and_the_highest_point_are_shown() -> None:
    finger = np.where(np.arange(ROWS) < 40, 1.0, 0.4)
    height = 0.1 * np.exp(-(((np.arange(ROWS) - 70) / 10) ** 2))
    assert key_moments(finger, things(height)) == [0, 40, 70, 100]


def test_a_push_with_open_fingers_shows_the_first_touch_and_half_the_way() -> None:
    aside = np.clip((np.arange(ROWS) - 20) * 0.002, 0, 0.1)
    assert key_moments(np.ones(ROWS), things(aside=aside)) == [0, 23, 45, 100]


def test_a_very_short_episode_has_as_many_moments_as_rows() -> None:
    assert key_moments(np.ones(2), things()[:2]) == [0, 1]
    assert key_moments(np.ones(1), things()[:1]) == [0]
