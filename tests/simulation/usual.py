"""MuJoCo's own renderer, which takes more memory and is what ours must draw like."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco


@contextmanager
def usual_renderer(model: mujoco.MjModel, height: int, width: int) -> Iterator[mujoco.Renderer]:
    """Freed while its own context is the current one: other renderers' textures have the same numbers."""
    renderer = mujoco.Renderer(model, height, width)
    try:
        yield renderer
    finally:
        renderer._gl_context.make_current()
        renderer._mjr_context.free()
        renderer.close()
