"""Drawing a model into memory: `mujoco.Renderer`, in a third of its memory."""

from __future__ import annotations

import mujoco
import numpy as np

from simulation.contracts import Image

SPARE_SHAPES = 200
"""What MuJoCo may draw beside geoms and sites."""
WINDOW = (16, 16)
"""Of the context, to which nothing is drawn: as large as a picture of people, it takes 36 MB."""


class Renderer:
    """Draws pictures of one size, in buffers of that size, with room for as many shapes as the model has. It belongs
    to the thread that made it, and to the model, whose sizes of buffers it sets."""

    def __init__(self, model: mujoco.MjModel, height: int, width: int, shadow_pixels: int) -> None:
        """`shadow_pixels`: the side of the map that shadows are drawn from; 0 where none are drawn. One of 1024 takes
        4 MB."""
        model.vis.quality.shadowsize = shadow_pixels
        model.vis.global_.offheight, model.vis.global_.offwidth = height, width
        self._model, self._shape = model, (height, width, 3)
        self.scene = mujoco.MjvScene(model, maxgeom=SPARE_SHAPES + model.ngeom + model.nsite)
        self._option = mujoco.MjvOption()
        self._window = mujoco.GLContext(*WINDOW)
        self._window.make_current()
        self._drawn = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawn)

    def update_scene(self, data: mujoco.MjData, camera: mujoco.MjvCamera | str) -> None:
        """Show what the camera, or the model's camera of that name, sees."""
        if isinstance(camera, str):
            camera = self._fixed(camera)
        mujoco.mjv_updateScene(self._model, data, self._option, None, camera, mujoco.mjtCatBit.mjCAT_ALL, self.scene)

    def render(self) -> Image:
        """uint8 (height, width, 3), the top row first."""
        self._window.make_current()
        height, width, _ = self._shape
        rectangle, picture = mujoco.MjrRect(0, 0, width, height), np.empty(self._shape, np.uint8)
        mujoco.mjr_render(rectangle, self.scene, self._drawn)
        mujoco.mjr_readPixels(picture, None, rectangle, self._drawn)
        return np.ascontiguousarray(picture[::-1])

    def close(self) -> None:
        """Frees what it has of its own context, which must be the current one: numbers of textures are a context's."""
        self._window.make_current()
        self._drawn.free()
        self._window.free()

    def _fixed(self, name: str) -> mujoco.MjvCamera:
        camera = mujoco.MjvCamera()
        camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self._model.camera(name).id
        return camera
