"""Robots, scenes, physics and cameras: playing an instruction into an episode."""

import os

# Read at mujoco's first import, which may be in any module of this package: software rendering without a display, and
# no worker threads in it, which are slower here and hang after a fork.
os.environ.setdefault("MUJOCO_GL", "osmesa")
os.environ.setdefault("LP_NUM_THREADS", "0")
