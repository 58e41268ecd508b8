"""Things that rest sleep (mjENBL_SLEEP), so that physics computes only what moves: a step costs half.

Which trees sleep is state that mj_getState leaves out, and MuJoCo keeps what it last derived of a sleeping tree. So
that a run can go on from its state alone, bit for bit, everything is derived anew with nothing asleep at the end of
each control step (`Sleep.derive`). That also finds the contacts of sleeping things, which a step leaves out.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation.contracts import AWAKE, SLEEPING, SimulationError

Trees = NDArray[np.int32]
"""(ntree,) mjData.tree_asleep: below 0 awake, else the next tree of those that fell asleep together."""


def apply_physics(model: mujoco.MjModel, physics: int) -> None:
    """Set what a version of physics (contracts.PHYSICS) needs that the XML does not say. Raises SimulationError."""
    if physics not in (AWAKE, SLEEPING):
        raise SimulationError(f"unknown physics {physics!r}; expected {AWAKE} or {SLEEPING}")
    if physics == SLEEPING:
        model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_ISLAND)  # what sleeps is an island


class Sleep:
    """Which trees of a model sleep. Robots never do, because MuJoCo keeps trees with actuators awake."""

    def __init__(self, model: mujoco.MjModel) -> None:
        never = (mujoco.mjtSleepPolicy.mjSLEEP_NEVER, mujoco.mjtSleepPolicy.mjSLEEP_AUTO_NEVER)
        awake = np.flatnonzero(np.isin(model.tree_sleep_policy, [int(policy) for policy in never]))
        if not len(awake):
            raise SimulationError("expected a robot, which never sleeps; every tree of this model may")
        self._model, self._robot = model, int(awake[0])

    def fits(self, asleep: NDArray[Any]) -> bool:
        """Whether these (n,) numbers are a state of sleep: each tree awake, or in a circle of sleeping ones."""
        if asleep.shape != (self._model.ntree,) or asleep[self._robot] >= 0:
            return False
        sleeping = np.flatnonzero(asleep >= 0)
        lowest = -(1 + mujoco.mjMINAWAKE)
        return bool((asleep >= lowest).all()) and np.array_equal(np.sort(asleep[sleeping]), sleeping)

    def wake_moved(self, data: mujoco.MjData) -> None:
        """Wake what was put elsewhere or given a speed, and all that sleeps with it."""
        mujoco.mj_kinematics(self._model, data)

    def derive(self, data: mujoco.MjData, asleep: Trees) -> None:
        """Derive positions, inertias and all contacts with nothing asleep, then let these trees sleep."""
        model = self._model
        self._put(data, np.full(model.ntree, -1, np.int32))
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_factorM(model, data)
        mujoco.mj_collision(model, data)
        data.qacc[:] = data.qacc_smooth[:] = data.qacc_warmstart  # of what sleeps; steps compute the others
        self._put(data, asleep)

    def _put(self, data: mujoco.MjData, asleep: Trees) -> None:
        """Set what sleeps. A robot that claims to be asleep is woken at once, upon which MuJoCo renews its lists."""
        data.tree_asleep[:] = asleep
        data.tree_awake[:] = asleep < 0
        data.tree_asleep[self._robot] = self._robot
        data.tree_awake[self._robot] = 1
        mujoco.mj_kinematics(self._model, data)
