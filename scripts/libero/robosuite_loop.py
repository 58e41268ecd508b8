"""Plays control steps with two pictures in robosuite's own loop, and prints the processor milliseconds of one: what
`timing.py` compares ours with.

    MUJOCO_GL=osmesa build/libero/venv/bin/python scripts/libero/robosuite_loop.py libero_object 0 256 40
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
from libero.libero import benchmark, get_libero_path
from libero.libero.envs.env_wrapper import OffScreenRenderEnv

DUMMY = [0.0] * 6 + [-1.0]
WARM = 10


def main(suite: str, number: int, side: int, steps: int) -> None:
    tasks = benchmark.get_benchmark(suite)()
    task = tasks.get_task(number)
    problem = os.path.join(get_libero_path("bddl_files"), task.problem_folder, task.bddl_file)
    wrapper = OffScreenRenderEnv(bddl_file_name=problem, camera_heights=side, camera_widths=side)
    wrapper.seed(0)
    wrapper.reset()
    wrapper.set_init_state(tasks.get_task_init_states(number)[0])
    for _ in range(WARM):
        wrapper.step(DUMMY)
    actions = np.random.default_rng(0).uniform(-0.4, 0.4, (steps, 7))
    began = time.process_time()
    for action in actions:
        wrapper.step(action)
    print(1e3 * (time.process_time() - began) / steps)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
