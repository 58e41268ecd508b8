"""One robot in one scene: resets by seed, plays actions, renders pictures, and judges the instruction.

It knows neither: all that differs between worlds comes from simulation.worlds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation import catalogue
from simulation.cameras import cameras_of
from simulation.catalogue_tasks import HOLD_STEPS
from simulation.contracts import (
    PHYSICS,
    POLICY_CAMERA,
    SLEEPING,
    CameraSpec,
    Floats,
    Image,
    Observation,
    SimulationError,
    StartState,
)
from simulation.goals import Goal, GoalProgress, Hand, View, goal_of
from simulation.matching import Meaning
from simulation.sleeping import Sleep
from simulation.variation import NO_VARIATION, Variation
from simulation.view_format import pieces_of_rows
from simulation.worlds import engine_version, load_world
from simulation.worlds.layout import is_waiting
from simulation.worlds.plugins import Watches

SETTLE_STEPS = 50  # physics steps after placing the objects, so that none starts in the air or inside the table
DIVERGED = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
    mujoco.mjtWarning.mjWARN_BADCTRL,
)
NOT_JUDGED = GoalProgress(False, 0.0)


class StateMismatch(SimulationError, ValueError):
    """A state that does not belong to this scene."""


@dataclass(frozen=True)
class StepOutcome:
    """The result of a control step: the judgement at its end, whether physics diverged, the wall time [s], and the
    positions on the way (contracts.StepRecord.between).
    """

    judgement: GoalProgress
    diverged: bool
    physics_s: float
    between: Floats


class Environment:
    """Everything that the seed varies is in qpos, so that a StartState is a complete start.

    `physics`: the version (contracts.PHYSICS); an older one repeats what was recorded with it.
    """

    def __init__(
        self,
        robot_id: str = "widowx",
        scene_id: str = "table",
        variation: Variation | None = None,
        physics: int = PHYSICS,
    ) -> None:
        self.variation = variation or NO_VARIATION
        self.world = load_world(robot_id, scene_id, self.variation.variant, physics)
        self.model = self.world.model
        self.data = mujoco.MjData(self.model)
        self.view = View(self.model, self.data, Hand(self.world.tool_site, self.world.pads))
        self.controller = self.world.robot.controller()
        if isinstance(self.controller, Watches):
            self.controller.watch(self.model, self.data)
        self.goal: Goal | None = None
        self.meaning: Meaning | None = None
        self.absent: tuple[str, ...] = ()  # what the last reset's seed left out
        self.engine_version = engine_version()
        self.scene_hash = self.world.scene_hash
        self.physics = physics
        self._sleep = Sleep(self.model) if physics == SLEEPING else None
        self._action = self.world.action
        self._motors = np.array([motor.column for motor in self.controller.motors])
        self._steps = 0  # of this rollout

    def reset(self, seed: int, variation: Variation | None = None) -> StartState:
        """Lay out the scene of the seed. A new `variation` may change its looks, not its variant."""
        if variation is not None:
            self.set_variation(variation)
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(self.model, self.data)
        sampled = self.world.sample(rng)
        self._put_robot(rng)
        for name, positions in sampled.items():  # of the robot, too, where the scene's starts say so
            self._put(name, positions)
        self._settle()
        self.absent = self.left_out()
        return self.state()

    def set_variation(self, variation: Variation) -> None:
        """Show the scene with this variation from now on. Raises StateMismatch for another variant of it."""
        if variation.variant != self.variation.variant:
            raise StateMismatch(
                f"the variant {variation.variant!r} is another scene than {self.variation.variant!r}: make another "
                "Environment"
            )
        self.variation = variation

    def state(self) -> StartState:
        data = self.data
        return StartState(
            time=float(data.time),
            qpos=data.qpos.copy(),
            qvel=data.qvel.copy(),
            qacc_warmstart=data.qacc_warmstart.copy(),
            control=self.controller.memory.copy(),
            asleep=np.array(data.tree_asleep if self._sleep else (), dtype=np.float64),
        )

    def restore(self, state: StartState) -> None:
        """Go on from a state, bit for bit as the original run did. Raises StateMismatch for another scene's.

        One that was recorded when nothing slept goes on with everything awake.
        """
        nq, nv, memory = self.model.nq, self.model.nv, len(self.controller.numbers)
        wanted = {"qpos": nq, "qvel": nv, "qacc_warmstart": nv, "control": memory}
        for name, length in wanted.items():
            got = np.shape(getattr(state, name))
            if got != (length,):
                raise StateMismatch(f"{name}: expected {length} numbers for {self._named()}, got {got}")
        asleep = self._checked_sleep(state.asleep)
        mujoco.mj_resetData(self.model, self.data)
        self.data.time = state.time
        self.data.qpos[:] = state.qpos
        self.data.qvel[:] = state.qvel
        self.data.qacc_warmstart[:] = state.qacc_warmstart
        self.controller.memory = np.array(state.control, dtype=np.float64)
        self._steps = 0
        self._derive(asleep)

    def move(self, name: str, x: float, y: float, turn: float | None = None) -> None:
        """Put an object elsewhere, at rest and as high as it is [m, base frame]; `turn` [rad]: upright, and turned
        about the vertical. What stands there is pushed aside by the next step. Raises StateMismatch for what is no
        object."""
        if name not in self.world.objects:
            raise StateMismatch(f"{name!r} cannot be moved; expected one of {', '.join(self.world.objects)}")
        joint = self.model.joint(name)
        first, speed = int(joint.qposadr[0]), int(joint.dofadr[0])
        self.data.qpos[first : first + 2] = x, y
        if turn is not None:
            self.data.qpos[first + 3 : first + 7] = np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)
        self.data.qvel[speed : speed + 6] = 0.0
        self._refresh()

    @property
    def hold_steps(self) -> int:
        """For how many control steps the present goal has to be held."""
        return self.world.steps_in(catalogue.task(self.meaning[0]).hold_steps if self.meaning else HOLD_STEPS)

    def left_out(self) -> tuple[str, ...]:
        """The things that the seed left out of the scene, or that fell off the table: nothing can be asked of them."""
        return tuple(name for name in self.world.objects if is_waiting(self.view.position(name)))

    def set_instruction(self, text: str) -> Goal | None:
        """Judge by this instruction from now on, and begin a rollout in the present state.

        Free text has no goal, nor has what is asked of things that the seed of the last reset left out. What happened
        since changes nothing in that: it is the same for both sides of a battle.
        """
        meaning = catalogue.task_for(text, self.world.scene_id)
        if meaning and not {*self.absent}.isdisjoint(catalogue.things_of(meaning)):
            meaning = None
        return self.set_task(meaning)

    def set_task(self, meaning: Meaning | None) -> Goal | None:
        """Likewise by a filled task."""
        self._steps = 0
        self.meaning, self.goal = meaning, goal_of(*meaning) if meaning else None
        if self.goal:
            self.goal.begin(self.view)
        return self.goal

    def reaches_at_once(self, goal: Goal) -> bool:
        """Whether a goal that begins in the present state is reached in it."""
        goal.begin(self.view)
        return goal.judge(self.view).success

    def step(self, action: Floats) -> StepOutcome:
        """Play one action (n,) for a control step: the motor commands of its pieces, each for `substeps` of physics."""
        self._action.check(action)
        began = time.perf_counter()
        world, ctrl = self.world, self.data.ctrl
        due = pieces_of_rows(self._steps, world.control_hz, world.robot.PIECES)
        between, taken = np.empty((len(due), self.model.nq)), 0
        for number, piece in enumerate(self.controller.command(action), 1):
            ctrl[:] = piece
            mujoco.mj_step(self.model, self.data, world.substeps)
            while taken < len(due) and due[taken] == number:
                between[taken] = self.data.qpos
                taken += 1
        self._steps += 1
        self._refresh()
        diverged = self._diverged()
        judgement = NOT_JUDGED if diverged or self.goal is None else self.goal.judge(self.view)
        return StepOutcome(judgement, diverged, time.perf_counter() - began, between)

    def proprioception(self) -> NDArray[np.float32]:
        """float32 (n,), what the robot feels."""
        return self.world.robot.proprioception(self.model, self.data)

    def picture(self, camera: CameraSpec = POLICY_CAMERA) -> Image:
        cameras = cameras_of(self.world.robot_id, self.world.scene_id, self.world.variant)
        return cameras.render(self.data, camera, self.variation)

    def observe(
        self, instruction: str, step: int = 0, cameras: tuple[CameraSpec, ...] = (POLICY_CAMERA,)
    ) -> Observation:
        images = {camera.name: self.picture(camera) for camera in cameras}
        return Observation(images, self.proprioception(), instruction, step)

    def _put(self, joint: str, positions: Floats) -> None:
        first = int(self.model.joint(joint).qposadr[0])
        self.data.qpos[first : first + len(positions)] = positions

    def _put_robot(self, rng: np.random.Generator) -> None:
        robot, home = self.world.robot, self.world.scene.STARTS.get(self.world.robot_id)
        for joint, position in robot.start(self.controller, rng, home).items():
            self._put(f"{robot.PREFIX}{joint}", np.array([position]))

    def _settle(self) -> None:
        if isinstance(self.controller, Watches):
            self._refresh()
            for _ in range(self.controller.SETTLING):
                self.step(self.controller.still())
        else:
            self.data.ctrl[:] = self.controller.memory[self._motors]
            mujoco.mj_step(self.model, self.data, SETTLE_STEPS)
        self.data.time = 0.0
        self._steps = 0
        self._refresh()

    def _named(self) -> str:
        return f"{self.world.robot_id} in scene {self.world.scene_id}"

    def _refresh(self) -> None:
        """Update what is derived of positions, which mj_step leaves as at its beginning. Changes no state, but that
        what was put elsewhere awakes.
        """
        if self._sleep:
            self._sleep.wake_moved(self.data)
        self._derive(self.data.tree_asleep.copy())

    def _derive(self, asleep: NDArray[np.int32]) -> None:
        if self._sleep:
            self._sleep.derive(self.data, asleep)
        else:
            mujoco.mj_kinematics(self.model, self.data)
            mujoco.mj_camlight(self.model, self.data)

    def _checked_sleep(self, asleep: Floats) -> NDArray[np.int32]:
        """mjData.tree_asleep of a state. Raises StateMismatch."""
        if not len(asleep) or self._sleep is None:
            return np.full(self.model.ntree, -(1 + mujoco.mjMINAWAKE), np.int32)
        if not self._sleep.fits(asleep):
            raise StateMismatch(f"asleep: expected circles among {self.model.ntree} trees of {self._named()}")
        return asleep.astype(np.int32)

    def _diverged(self) -> bool:
        if any(self.data.warning[kind].number for kind in DIVERGED):
            return True
        return not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all())
