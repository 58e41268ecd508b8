"""Plays random actions with robosuite's own controller, and writes where its arm was: what `make test-libero` compares
ours with.

    build/libero/venv/bin/python scripts/libero/reference.py build/libero/reference.json
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import robosuite.utils.transform_utils as transform
from libero.libero import benchmark, get_libero_path
from libero.libero.envs.env_wrapper import ControlEnv

SUITE, TASK, START = "libero_object", 0, 0
ACTIONS = 100
DUMMY = [0.0] * 6 + [-1.0]
WARM = 10


def main(out: Path) -> None:
    tasks = benchmark.get_benchmark(SUITE)()
    task = tasks.get_task(TASK)
    problem = os.path.join(get_libero_path("bddl_files"), task.problem_folder, task.bddl_file)
    wrapper = ControlEnv(problem, has_offscreen_renderer=False, use_camera_obs=False)
    wrapper.seed(0)
    wrapper.reset()
    wrapper.set_init_state(tasks.get_task_init_states(TASK)[START])
    for _ in range(WARM):
        wrapper.step(DUMMY)
    model, data, arm = wrapper.sim.model, wrapper.sim.data, wrapper.env.robots[0]
    joints = [model.joint_id2name(index) for index in range(model.njnt)]
    start = {
        "time": float(data.time),
        "qpos": {name: joint_values(model, data.qpos, name, "qpos") for name in joints},
        "qvel": {name: joint_values(model, data.qvel, name, "qvel") for name in joints},
        "goal_rotation": np.roll(transform.mat2quat(arm.controller.goal_ori), 1).tolist(),
        "fingers": np.broadcast_to(arm.gripper.current_action, 2).astype(float).tolist(),
    }
    rng = np.random.default_rng(0)
    actions = rng.uniform(-0.4, 0.4, (ACTIONS, 7))
    actions[:, 2] += 0.1  # upwards, away from the things
    places, began = [], time.process_time()
    for action in actions:
        wrapper.step(action)
        places.append(np.array(data.qpos[arm._ref_joint_pos_indexes]).tolist())
    spent = time.process_time() - began
    told = {
        "scene": f"{SUITE}_{TASK}",
        "start": start,
        "actions": actions.tolist(),
        "joints": places,
        "ms_per_step": 1e3 * spent / ACTIONS,
    }
    out.write_text(json.dumps(told))


def joint_values(model: Any, values: Any, name: str, kind: str) -> list[float]:
    address = getattr(model, f"get_joint_{kind}_addr")(name)
    first, last = address if isinstance(address, tuple) else (address, address + 1)
    return [float(value) for value in values[first:last]]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
