"""Robots, scenes, physics and cameras: what happens between an instruction and an episode."""

import os

# Read when mujoco is first imported, which every module of this package may do: software rendering without a display,
# and no worker threads in it (they are slower here, and hang after a fork).
os.environ.setdefault("MUJOCO_GL", "osmesa")
os.environ.setdefault("LP_NUM_THREADS", "0")
