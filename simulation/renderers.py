"""Closing MuJoCo's renderers where one thread has several."""

from __future__ import annotations

import mujoco


def close(renderer: mujoco.Renderer) -> None:
    """Free what a renderer has of its own context. By itself it lets go of its context first, and then frees the
    textures of these numbers in whichever context is current.
    """
    if renderer._gl_context is not None:
        renderer._gl_context.make_current()
        renderer._mjr_context.free()
    renderer.close()
