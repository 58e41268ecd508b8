"""What several starts for one vote buy, in simulation: fixed seeds, the same code as `manage.py ranking_study`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankings.study.starts import Clips, goals, lucky, misled, needed, orders

CHECKPOINTS = (50, 200, 800, 3200)


def test_three_starts_need_fewer_votes_and_no_fewer_turns() -> None:
    one, three = (
        needed(
            orders(Clips(starts=starts), repeats=24, seed=1, checkpoints=CHECKPOINTS),
            0.9,
            seed=1,
            checkpoints=CHECKPOINTS,
        )
        for starts in (1, 3)
    )
    assert three.votes < 0.75 * one.votes
    assert 3 * three.votes > 0.8 * one.votes
    assert one.low <= one.votes <= one.high


def test_what_was_never_reached_is_said_to_need_infinitely_many() -> None:
    found = needed(np.full((5, 4), 0.5), 0.95, seed=1, checkpoints=CHECKPOINTS)
    assert math.isinf(found.votes)


def test_the_votes_needed_are_read_between_the_looks() -> None:
    found = needed(np.tile([0.6, 0.8, 0.9, 1.0], (5, 1)), 0.85, seed=1, checkpoints=CHECKPOINTS)
    assert found.votes == pytest.approx(400)


def test_both_sides_play_from_equally_easy_starts() -> None:
    theta = np.zeros(2)
    left, right = np.zeros(20_000, np.int64), np.ones(20_000, np.int64)
    shared = goals(theta, left, right, Clips(eases=4.0), np.random.default_rng(1))
    assert np.mean(shared[0] == shared[1]) > 0.7
    alone = goals(theta, left, right, Clips(eases=0.0), np.random.default_rng(1))
    assert np.mean(alone[0] == alone[1]) == pytest.approx(0.5, abs=0.02)


def test_more_starts_mislead_less_often_and_many_single_clips_are_luck() -> None:
    wrong = [misled(Clips(starts=starts), pairs=20_000, seed=1) for starts in (1, 3, 5)]
    assert wrong == sorted(wrong, reverse=True)
    assert wrong[0] < 0.5
    assert 0.1 < lucky(clips=Clips(starts=3), number=20_000, seed=1) < 0.4
