"""What a robot and a scene are to the rest of the simulation. Nothing but their own files knows more of them.

Both are modules, or objects with the same names. `simulation.worlds.ROBOTS` and `SCENES` register them, and
`catalogue_data/robots.yaml` and `scenes.yaml` describe them to processes without physics. Frames: the base frame of the
robot is the world frame; x points away from the robot, y to its left, z up. Units: m, rad, s, kg.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation.contracts import CameraSpec, Floats, Numbers
from simulation.control.motors import Motor


@dataclass(frozen=True)
class Look:
    """How policies see a scene. Another look has another `id`, because scores do not compare between looks.

    `mirrored`: cameras of the scene and of robots in it show left and right exchanged.
    """

    id: str = "look-1"
    shadows: bool = False
    reflections: bool = False
    mirrored: bool = False


class Controller(Protocol):
    """Turns actions into motor commands. One controller belongs to one environment.

    `memory` (n,) is all that it remembers between control steps, and is set to go on from a state. `motors` tells how
    two memories become motor commands, one entry per actuator, so that a browser can repeat physics between records.
    """

    id: str
    numbers: Numbers
    motors: tuple[Motor, ...]
    memory: Floats

    def start_at(self, joints: Floats) -> None:
        """Forget everything and command these positions of the motors (nu,) [rad, m]."""
        ...

    def command(self, action: Floats) -> Iterable[Floats]:
        """Apply one action to the memory. Returns ctrl (pieces, nu) for equal pieces of the control step. Each is
        asked for after physics has played those before it.
        """
        ...

    def still(self) -> Floats:
        """The action that keeps the command where it is, with open grippers."""
        ...


@runtime_checkable
class Watches(Protocol):
    """A controller that reads the arm while it moves it, as torque control does. Its motors hold no position: a start
    settles by `SETTLING` actions `still` instead.
    """

    SETTLING: ClassVar[int]

    def watch(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Read this arm from now on."""
        ...


class Robot(Protocol):
    """A robot with its controller.

    `MESHES`: its folder in `simulation/assets` (with `NAME.sha256` beside it), or "". `PREFIX`: of its names in a
    world, not empty. `ACTION`: the id of its action space, and the numbers of an action. `PROPRIOCEPTION`: likewise of
    what it feels. `CONTROL_HZ`: 5..80. `PIECES`: of a control step, in each of which motor commands are constant; a
    piece must be a whole number of physics steps. `TIMESTEP`: of physics [s], or None for the scene's. `CAMERAS`: those
    that it carries, each at its largest size; their names in its XML must differ from those of every scene.
    `LONGEST_CHUNK`: the most actions that a policy may return at once. `TOOLS`: sites, the first of which goals judge.
    `PADS`: geoms that hold things; none without a gripper. All names are without the prefix.
    """

    @property
    def id(self) -> str: ...

    @property
    def MESHES(self) -> str: ...

    @property
    def PREFIX(self) -> str: ...

    @property
    def ACTION(self) -> Numbers: ...

    @property
    def PROPRIOCEPTION(self) -> Numbers: ...

    @property
    def CONTROL_HZ(self) -> int: ...

    @property
    def PIECES(self) -> int: ...

    @property
    def TIMESTEP(self) -> float | None: ...

    @property
    def CAMERAS(self) -> tuple[CameraSpec, ...]: ...

    @property
    def LONGEST_CHUNK(self) -> int: ...

    @property
    def TOOLS(self) -> tuple[str, ...]: ...

    @property
    def PADS(self) -> tuple[str, ...]: ...

    def build(self, meshes: Mapping[str, bytes]) -> mujoco.MjSpec: ...

    def controller(self) -> Controller: ...

    def start(self, controller: Any, rng: np.random.Generator, joints: Floats | None) -> Mapping[str, float]:
        """Start the controller, which `controller` has made, in the pose of the seed. Returns the positions of the
        robot's joints by name, without the prefix.

        `joints`: the pose around which to vary, if the scene wants another one than the robot's own.
        """
        ...

    def proprioception(self, model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
        """What the robot feels, as PROPRIOCEPTION says. `data` has current kinematics."""
        ...


class Scene(Protocol):
    """Things around a robot.

    `VARIANTS`: kinds of the scene that differ in their bodies; "" is the usual one. `TARGETS`: bodies that are places
    and not carried. `LOOK`: how policies see it. `STARTS`: robot id -> start pose of the arm, for robots that do not
    start in their own. Cameras stand in the XML, and with their largest sizes in scenes.yaml; "workspace" is the one
    that most policies use. A scene whose files have their own frame says with `BASE` (3,) [m] where the robot stands.
    """

    @property
    def id(self) -> str: ...

    @property
    def VARIANTS(self) -> tuple[str, ...]: ...

    @property
    def TARGETS(self) -> tuple[str, ...]: ...

    @property
    def LOOK(self) -> Look: ...

    @property
    def STARTS(self) -> Mapping[str, Floats]: ...

    def build(self, variant: str) -> mujoco.MjSpec:
        """The scene without a robot. Meshes and textures that are files stand in `spec.assets`."""
        ...

    def objects(self, variant: str) -> tuple[str, ...]:
        """The bodies with a free joint, which has the body's name."""
        ...

    def sample(self, rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
        """Joint name -> its positions: 1 number for slides and hinges [m, rad], 7 for free joints (x, y, z, then the
        quaternion w, x, y, z). All that a seed varies is in them, so that a start state is complete.
        """
        ...
