"""Camera pictures in one fixed look. Another look or renderer is another profile, whose scores do not compare."""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import threading
from functools import cache
from typing import Any

import mujoco
import numpy as np

from simulation.contracts import CameraSpec, Floats, Image
from simulation.renderers import Renderer
from simulation.variation import NO_VARIATION, Variation
from simulation.worlds import World, load_world

LOOK = "look-1"
"""No shadows, no reflections, no multisampling, hidden sites and collision shapes."""
PROFILE_LENGTH = 120

logging.getLogger("OpenGL").setLevel(logging.WARNING)  # at every start it lists the accelerators that it lacks


class Cameras:
    """Renders one world with a copy of the model, so that colours and light can change without the physics."""

    def __init__(self, world: World) -> None:
        self._model = world.compile()
        self._pristine = world.model
        self._renderers: dict[tuple[int, int, bool], Renderer] = {}
        self._applied = NO_VARIATION
        self._world = world

    def render(self, data: mujoco.MjData, camera: CameraSpec, variation: Variation = NO_VARIATION) -> Image:
        """uint8 (height, width, 3). `data` needs current kinematics; only its derived camera pose is overwritten."""
        self._apply(variation)
        name, look = self._world.camera(camera.name), self._world.look
        index = self._model.camera(name).id
        if self._pristine.cam_bodyid[index] == 0:  # one that a robot carries stays where the robot holds it
            position, rotation = camera_pose(self._pristine, name, variation)
            data.cam_xpos[index], data.cam_xmat[index] = position, rotation.ravel()
        shadows = look.shadows or variation.shadows
        renderer = self._renderer(camera.height, camera.width, shadows)
        renderer.update_scene(data, name)
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        renderer.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = look.reflections
        picture = renderer.render()
        return np.ascontiguousarray(picture[:, ::-1]) if look.mirrored else picture

    def project(self, points: Floats, camera: CameraSpec, variation: Variation = NO_VARIATION) -> Floats:
        """Where points (n, 3) [m, base frame] appear: (n, 2), x and y from the top left, 0..1 in the picture.

        `camera` is one that stands in the scene.
        """
        name = self._world.camera(camera.name)
        position, rotation = camera_pose(self._pristine, name, variation)
        local = (points - position) @ rotation
        scale = 0.5 / np.tan(np.deg2rad(self._pristine.camera(name).fovy[0]) / 2)
        aspect = camera.width / camera.height
        depth = -local[:, 2]
        right = scale * local[:, 0] / depth / aspect * (-1.0 if self._world.look.mirrored else 1.0)
        return np.stack([0.5 + right, 0.5 - scale * local[:, 1] / depth], axis=1)

    def close(self) -> None:
        for renderer in self._renderers.values():
            renderer.close()
        self._renderers.clear()

    def _renderer(self, height: int, width: int, shadows: bool) -> Renderer:
        which = (height, width, shadows)
        if which not in self._renderers:
            shadow_pixels = self._pristine.vis.quality.shadowsize if shadows else 0
            self._renderers[which] = Renderer(self._model, height, width, shadow_pixels)
        return self._renderers[which]

    def _apply(self, variation: Variation) -> None:
        if variation == self._applied:
            return
        model, pristine = self._model, self._pristine
        model.light_diffuse[:] = pristine.light_diffuse * variation.light_scale
        model.light_specular[:] = pristine.light_specular * variation.light_scale
        model.vis.headlight.ambient[:] = pristine.vis.headlight.ambient * variation.light_scale
        model.vis.headlight.diffuse[:] = pristine.vis.headlight.diffuse * variation.light_scale
        model.mat_rgba[:] = pristine.mat_rgba
        known = {model.material(index).name: index for index in range(model.nmat)}
        if "table" in known:
            model.mat_rgba[known["table"], :3] *= variation.table_scale
        for name, colour in variation.colours.items():
            if name in known:  # a secret tints the things of every scene
                model.mat_rgba[known[name], :3] = colour
        self._applied = variation


def camera_pose(model: mujoco.MjModel, name: str, variation: Variation) -> tuple[Floats, Floats]:
    """Position [m] and rotation (3, 3) of a camera in the base frame: x right, y up, z backwards."""
    index = model.camera(name).id
    rotation, turn, quaternion = np.empty(9), np.empty(9), np.empty(4)
    mujoco.mju_quat2Mat(rotation, model.cam_quat[index])
    vector = np.array(variation.camera_rotation)
    angle = float(np.linalg.norm(vector))
    mujoco.mju_axisAngle2Quat(quaternion, vector / angle if angle else np.array([1.0, 0, 0]), angle)
    mujoco.mju_quat2Mat(turn, quaternion)
    return model.cam_pos[index] + np.array(variation.camera_offset), rotation.reshape(3, 3) @ turn.reshape(3, 3)


def cameras_of(robot_id: str, scene_id: str, variant: str = "") -> Cameras:
    """This thread's renderer of a world. It is kept, because making one takes a quarter of a second, and not shared,
    because another thread may draw another battle's looks at the same time.
    """
    kept: dict[tuple[str, str, str], Cameras] = _own.__dict__.setdefault("cameras", {})
    world = (robot_id, scene_id, variant)
    if world not in kept:
        kept[world] = Cameras(load_world(*world))
        atexit.register(kept[world].close)  # while OpenGL still works
    return kept[world]


def close_cameras(robot_id: str, scene_id: str, variant: str = "") -> None:
    """Free this thread's renderer of a world. The next picture makes another."""
    kept = _own.__dict__.get("cameras", {}).pop((robot_id, scene_id, variant), None)
    if kept is not None:
        atexit.unregister(kept.close)
        kept.close()


_own = threading.local()


@cache
def render_profile() -> str:
    """The look, the back end and OpenGL's names of this process, in at most 120 characters."""
    context = mujoco.GLContext(16, 16)
    try:
        context.make_current()
        from OpenGL import GL  # after the context, whose module selects the platform

        names = [_text(GL.glGetString(name)) for name in (GL.GL_RENDERER, GL.GL_VERSION)]
    finally:
        context.free()
    return profile_of(os.environ.get("MUJOCO_GL", ""), *names)


def profile_of(back_end: str, renderer: str, version: str) -> str:
    """A profile that is too long ends in a hash, so that different profiles stay different."""
    profile = f"{LOOK} {back_end or 'glfw'}; {renderer}; {version}"
    if len(profile) <= PROFILE_LENGTH:
        return profile
    digest = hashlib.sha256(profile.encode()).hexdigest()[:12]
    return f"{profile[: PROFILE_LENGTH - len(digest) - 1]} {digest}"


def _text(name: Any) -> str:
    return " ".join((name or b"").decode("utf-8", "replace").split())
