"""One robot in one scene: resets by seed, plays actions at 5 Hz, renders pictures, and judges the instruction."""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from simulation import catalogue
from simulation.cameras import cameras_of
from simulation.catalogue_tasks import HOLD_STEPS
from simulation.contracts import (
    ACTION,
    CONTROL_PERIOD,
    POLICY_CAMERA,
    CameraSpec,
    Floats,
    Image,
    Observation,
    SimulationError,
    StartState,
)
from simulation.controller import CONTROL_DIM, FINGER, JOINTS, RAMP_PIECES, Controller
from simulation.goals import Goal, GoalProgress, Hand, View, goal_of
from simulation.matching import Meaning
from simulation.variation import NO_VARIATION, Variation
from simulation.view_format import ROWS_PER_STEP
from simulation.worlds import engine_version, load_world, widowx

# The seeded start pose of the tool: lowest and highest offset from SimplerEnv's start [m: x, y, z; rad: yaw].
START_JITTER = np.array([[-0.03, -0.04, -0.02, -0.2], [0.03, 0.04, 0.03, 0.2]])
SETTLE_STEPS = 50  # physics steps after placing the objects, so that none starts in the air or inside the table
DIVERGED = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
    mujoco.mjtWarning.mjWARN_BADCTRL,
)
HAND = Hand(f"{widowx.PREFIX}tool", (f"{widowx.PREFIX}left_pad", f"{widowx.PREFIX}right_pad"))
NOT_JUDGED = GoalProgress(False, 0.0)
PIECES_PER_ROW = RAMP_PIECES // ROWS_PER_STEP


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
    """Everything that the seed varies is in qpos, so that a StartState is a complete start."""

    def __init__(self, robot_id: str = "widowx", scene_id: str = "table", variation: Variation | None = None) -> None:
        self.variation = variation or NO_VARIATION
        self.world = load_world(robot_id, scene_id, self.variation.fifth_object)
        self.model = self.world.model
        self.data = mujoco.MjData(self.model)
        self.view = View(self.model, self.data, HAND)
        self.controller = Controller()
        self.goal: Goal | None = None
        self.meaning: Meaning | None = None
        self.engine_version = engine_version()
        self.scene_hash = self.world.scene_hash
        self.substeps = round(CONTROL_PERIOD / self.model.opt.timestep / RAMP_PIECES)
        joints = [self.model.joint(f"{widowx.PREFIX}{name}") for name in widowx.ARM_JOINTS]
        self._arm = np.array([int(joint.qposadr[0]) for joint in joints])
        self._fingers = [
            int(self.model.joint(f"{widowx.PREFIX}{side}_finger").qposadr[0]) for side in ("left", "right")
        ]

    def reset(self, seed: int, variation: Variation | None = None) -> StartState:
        """Lay out the scene of the seed. A new `variation` may change its looks, not its objects."""
        if variation is not None:
            self.set_variation(variation)
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(self.model, self.data)
        for name, (x, y, z, yaw) in self.world.sample(rng).items():
            self._put(name, x, y, z, yaw)
        self._put_arm(rng)
        self._settle()
        return self.state()

    def set_variation(self, variation: Variation) -> None:
        """Show the scene with this variation from now on. Raises StateMismatch if its objects differ."""
        if variation.fifth_object != self.variation.fifth_object:
            raise StateMismatch("a fifth object is another scene: make another Environment")
        self.variation = variation

    def state(self) -> StartState:
        data = self.data
        return StartState(
            time=float(data.time),
            qpos=data.qpos.copy(),
            qvel=data.qvel.copy(),
            qacc_warmstart=data.qacc_warmstart.copy(),
            control=self.controller.memory.copy(),
        )

    def restore(self, state: StartState) -> None:
        """Go on from a state, bit for bit as the original run did."""
        wanted = {"qpos": self.model.nq, "qvel": self.model.nv, "qacc_warmstart": self.model.nv, "control": CONTROL_DIM}
        for name, length in wanted.items():
            got = np.shape(getattr(state, name))
            if got != (length,):
                raise StateMismatch(f"{name}: expected {length} numbers for scene {self.world.scene_id}, got {got}")
        mujoco.mj_resetData(self.model, self.data)
        self.data.time = state.time
        self.data.qpos[:] = state.qpos
        self.data.qvel[:] = state.qvel
        self.data.qacc_warmstart[:] = state.qacc_warmstart
        self.controller.memory = np.array(state.control, dtype=np.float64)
        self._refresh()

    @property
    def hold_steps(self) -> int:
        """For how many control steps the present goal has to be held."""
        return catalogue.task(self.meaning[0]).hold_steps if self.meaning else HOLD_STEPS

    def set_instruction(self, text: str) -> Goal | None:
        """Judge by this instruction from now on, beginning in the present state. Free text has no goal."""
        return self.set_task(catalogue.task_for(text, self.world.scene_id))

    def set_task(self, meaning: Meaning | None) -> Goal | None:
        """Likewise by a filled task."""
        self.meaning, self.goal = meaning, goal_of(*meaning) if meaning else None
        if self.goal:
            self.goal.begin(self.view)
        return self.goal

    def reaches_at_once(self, goal: Goal) -> bool:
        """Whether a goal that begins in the present state is reached in it."""
        goal.begin(self.view)
        return goal.judge(self.view).success

    def step(self, action: Floats) -> StepOutcome:
        """Play one action (7,) for 0.2 s: a ramp of the joint targets in 10 pieces of 10 physics steps."""
        ACTION.check(action)
        began = time.perf_counter()
        ctrl, between = self.data.ctrl, np.empty((ROWS_PER_STEP, self.model.nq))
        for number, piece in enumerate(self.controller.command(action)):
            ctrl[:] = piece
            mujoco.mj_step(self.model, self.data, self.substeps)
            between[number // PIECES_PER_ROW] = self.data.qpos  # a row's last piece stays
        self._refresh()
        diverged = self._diverged()
        judgement = NOT_JUDGED if diverged or self.goal is None else self.goal.judge(self.view)
        return StepOutcome(judgement, diverged, time.perf_counter() - began, between)

    def proprioception(self) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        """float32 (8,), see contracts.Observation."""
        yaw, tilt = self.view.tool_yaw(), self.view.tool_rotation()[:2, 0]
        opening = (self.finger() - widowx.FINGER_CLOSED) / (widowx.FINGER_OPEN - widowx.FINGER_CLOSED)
        return np.array(
            [*self.view.tool(), np.sin(yaw), np.cos(yaw), *tilt, np.clip(opening, 0.0, 1.0)], dtype=np.float32
        )

    def finger(self) -> float:
        """Position of the left finger's joint [m]."""
        return float(self.data.qpos[self._fingers[0]])

    def picture(self, camera: CameraSpec = POLICY_CAMERA) -> Image:
        cameras = cameras_of(self.world.robot_id, self.world.scene_id, self.variation.fifth_object)
        return cameras.render(self.data, camera, self.variation)

    def observe(
        self, instruction: str, step: int = 0, cameras: tuple[CameraSpec, ...] = (POLICY_CAMERA,)
    ) -> Observation:
        images = {camera.name: self.picture(camera) for camera in cameras}
        return Observation(images, self.proprioception(), instruction, step)

    def _put(self, name: str, x: float, y: float, z: float, yaw: float) -> None:
        if name in self.world.targets:
            for axis, value in (("x", x), ("y", y)):
                self.data.qpos[self.model.joint(f"{name}_{axis}").qposadr[0]] = value
            return
        first = int(self.model.joint(name).qposadr[0])
        self.data.qpos[first : first + 7] = [x, y, z, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]

    def _put_arm(self, rng: np.random.Generator) -> None:
        jitter = rng.uniform(*START_JITTER)
        position = self.controller.tool_pose(widowx.START_ARM)[0] + jitter[:3]
        joints, _ = self.controller.solve(widowx.START_ARM, position, pointing_down(jitter[3]))
        self.controller.start_at(joints, widowx.FINGER_OPEN)
        self.data.qpos[self._arm] = joints
        self.data.qpos[self._fingers] = [widowx.FINGER_OPEN, -widowx.FINGER_OPEN]

    def _settle(self) -> None:
        self.data.ctrl[:6], self.data.ctrl[6] = self.controller.memory[JOINTS], self.controller.memory[FINGER]
        mujoco.mj_step(self.model, self.data, SETTLE_STEPS)
        self.data.time = 0.0
        self._refresh()

    def _refresh(self) -> None:
        """Update derived positions, which mj_step leaves as at its beginning. Changes no state."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)

    def _diverged(self) -> bool:
        if any(self.data.warning[kind].number for kind in DIVERGED):
            return True
        return not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qvel).all())


def pointing_down(yaw: float) -> Floats:
    """Quaternion wxyz (4,) of a tool whose x axis (approach) points down, turned about z by `yaw` [rad]."""
    down, quaternion = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]), np.empty(4)
    mujoco.mju_mulQuat(quaternion, np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]), down)
    return quaternion
