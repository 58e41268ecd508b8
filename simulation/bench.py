"""Benchmarks of the simulation: what the control loop adds to bare physics, and what a picture costs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from simulation import catalogue
from simulation.contracts import AWAKE, POLICY_CAMERA, Floats
from simulation.environment import Environment
from simulation.expert import scripted_expert


@dataclass(frozen=True)
class LoopCost:
    """CPU milliseconds of whole episodes by the control loop; by bare mj_step with the same ctrl, where things that
    rest sleep as in the loop; and where nothing sleeps, which is what physics cost before."""

    loop_ms: float
    bare_ms: float
    awake_ms: float
    steps: int

    @property
    def ratio(self) -> float:
        """Control loop over bare physics."""
        return self.loop_ms / self.bare_ms

    @property
    def ratio_to_awake(self) -> float:
        return self.loop_ms / self.awake_ms


def control_loop_cost(episodes: int = 10, seed: int = 0, robot_id: str = "widowx", scene_id: str = "table") -> LoopCost:
    """The same expert episodes by Environment.step (IK, ramp, judging), and by bare mj_step with the same ctrl.

    Each is the best of three in CPU time of this process; with sleep both go through identical states. What is asked is
    the first of the scene's suggestions about things that the seed has laid out.
    """
    environment, awake = Environment(robot_id, scene_id), Environment(robot_id, scene_id, physics=AWAKE)
    scripts = [_script(environment, number) for number in range(seed, seed + episodes)]
    loop = min(sum(_played(environment, *script) for script in scripts) for _ in range(3))
    bare = min(sum(_stepped(environment, *script) for script in scripts) for _ in range(3))
    full = min(sum(_stepped(awake, *script) for script in scripts) for _ in range(3))
    return LoopCost(loop * 1e3, bare * 1e3, full * 1e3, sum(len(actions) for _, actions in scripts))


def render_ms(frames: int = 200) -> float:
    """Wall milliseconds of one policy picture in the frozen profile."""
    environment = Environment()
    environment.reset(0)
    environment.picture()
    began = time.perf_counter()
    for _ in range(frames):
        environment.picture()
    return (time.perf_counter() - began) / frames * 1e3


def picture_ms(robot_id: str, scene_id: str, share: float | None = None, frames: int = 100) -> float:
    """Wall milliseconds of one picture, 128 x 128, of the scene's first start. `share`: of the faces that each mesh
    keeps (simulation.slimming, whose packages come with the tests); None: the meshes as they are served."""
    environment = Environment(robot_id, scene_id)
    environment.reset(0)
    model = environment.world.compile() if share is None else _slim(environment, share)
    data = mujoco.MjData(model)
    data.qpos[:] = environment.data.qpos
    mujoco.mj_forward(model, data)
    with mujoco.Renderer(model, POLICY_CAMERA.height, POLICY_CAMERA.width) as renderer:
        renderer.update_scene(data, POLICY_CAMERA.name)
        renderer.render()
        began = time.perf_counter()
        for _ in range(frames):
            renderer.update_scene(data, POLICY_CAMERA.name)
            renderer.render()
        return (time.perf_counter() - began) / frames * 1e3


def _slim(environment: Environment, share: float) -> mujoco.MjModel:
    from simulation.slimming import slim_spec

    spec = mujoco.MjSpec.from_string(environment.world.xml)
    meshes, prefix = environment.world.meshes, environment.world.robot.PREFIX
    of_robot = {f"{prefix}{name}": mesh for name, mesh in meshes.items()}
    spec.assets = {**meshes, **of_robot}  # those of the scene have no prefix
    slim_spec(spec, share)
    return spec.compile()


def _script(environment: Environment, seed: int) -> tuple[int, list[Floats]]:
    environment.reset(seed)
    suggestions = catalogue.scene(environment.world.scene_id).suggestions
    text = next((text for text in suggestions if environment.set_instruction(text)), "")
    expert = scripted_expert(environment)
    expert.reset(text, seed)
    actions: list[Floats] = []
    for step in range(30):
        actions.append(expert.infer(environment.observe(text, step, ()))[0])
        environment.step(actions[-1])
    return seed, actions


def _played(environment: Environment, seed: int, actions: list[Floats]) -> float:
    environment.reset(seed)
    began = time.process_time()
    for action in actions:
        environment.step(action)
        environment.state()
    return time.process_time() - began


def _stepped(environment: Environment, seed: int, actions: list[Floats]) -> float:
    environment.reset(seed)
    controls = []
    for action in actions:
        controls.append(np.array([*environment.controller.command(action)]))
    model, data = environment.model, environment.data
    pieces = np.concatenate(controls)
    began = time.process_time()
    for piece in pieces:
        data.ctrl[:] = piece
        mujoco.mj_step(model, data, environment.world.substeps)
    return time.process_time() - began
