"""Two conventions of actions: BridgeData's (m, rad, gripper 1 open) and LIBERO's (-1..1, gripper -1 open)."""

from __future__ import annotations

import numpy as np
import pytest

from simulation.contracts import ACTION_SPACE, LIBERO_ACTIONS, grippers, openings
from simulation.disturbance import BRIDGE, LIBERO, Disturbance
from simulation.worlds.libero import FREE, FRESH, pose_of


@pytest.mark.parametrize(("space", "opened", "closed"), [(ACTION_SPACE, 1.0, 0.0), (LIBERO_ACTIONS, -1.0, 1.0)])
def test_openings_and_grippers_are_each_others_inverse(space: str, opened: float, closed: float) -> None:
    numbers = np.array([opened, closed])
    assert openings(space, numbers).tolist() == [1.0, 0.0]
    assert grippers(space, np.array([1.0, 0.0])).tolist() == [opened, closed]


def test_noise_is_of_the_same_size_in_metres_in_both() -> None:
    still = np.zeros((2000, 7))
    bridge = Disturbance(np.random.default_rng(1), 1.0, BRIDGE)
    libero = Disturbance(np.random.default_rng(1), 1.0, LIBERO)
    metres = np.std([bridge(action)[:3] for action in still], axis=0)
    of_five_centimetres = np.std([libero(action)[:3] for action in still], axis=0) * 0.05
    assert of_five_centimetres == pytest.approx(metres, rel=0.5)


def test_a_flipped_grip_of_libero_is_the_opposite_one() -> None:
    disturb = Disturbance(np.random.default_rng(0), 1.0, LIBERO)
    shown = {disturb(np.array([0.0] * 6 + [1.0]))[6] for _ in range(3000)}
    assert shown == {1.0, -1.0}


STARTS = np.random.default_rng(5).uniform(-1, 1, (50, 1 + FREE))
JOINTS = [("hinge", 0, 1), ("thing", 1, FREE)]


def test_seeds_of_evaluations_take_the_benchmarks_starts_in_order() -> None:
    for seed in (0, 17, 49, 50 + 17):
        pose = pose_of(np.random.default_rng(seed), STARTS, JOINTS)
        assert pose.tolist() == STARTS[seed % 50].tolist()


def test_seeds_of_demonstrations_lie_between_two_of_them_and_keep_turns_whole() -> None:
    before = STARTS.copy()
    for seed in range(FRESH, FRESH + 20):
        pose = pose_of(np.random.default_rng(seed), STARTS, JOINTS)
        assert not (np.abs(STARTS - pose).max(axis=1) < 1e-9).any()
        assert any((pose[4:] == start[4:]).all() for start in STARTS)
    assert (before == STARTS).all()
