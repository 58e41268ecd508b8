"""Makes the scenes of LIBERO with robosuite, and writes each as one XML, its start states and what its task asks.

    build/libero/venv/bin/python scripts/libero/export.py build/libero/made libero_object ...

Runs in the environment that `scripts/libero/install.py` makes, with MuJoCo 3.3.7, which is the last version that is
known to start all tasks right. A task that was written whole is passed over, so that it goes on where it was stopped.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from libero.libero import benchmark, get_libero_path
from libero.libero.envs.env_wrapper import ControlEnv

DUMMY_STEPS = 10  # with which every episode of the benchmark begins
DUMMY = [0.0] * 6 + [-1.0]
SEED = 0
SETTLED = {  # wrong from MuJoCo 3.4 on: things slip, are thrown or are caught while the dummy steps last
    ("libero_spatial", 5),
    ("libero_spatial", 7),
    ("libero_spatial", 8),
    ("libero_10", 0),
    ("libero_10", 1),
    ("libero_10", 7),
}


def main(out: Path, suites: list[str]) -> None:
    for suite in suites:
        tasks = benchmark.get_benchmark(suite)()
        for number in range(tasks.n_tasks):
            told = out / f"{suite}_{number}.json"
            if not is_made(told, (suite, number) in SETTLED):
                out.mkdir(parents=True, exist_ok=True)
                fact = export(tasks, suite, number, out)
                fresh = told.with_suffix(".part")
                fresh.write_text(json.dumps(fact, indent=1))
                fresh.replace(told)
            print(f"made {told.stem}", flush=True)


def is_made(told: Path, settled: bool) -> bool:
    """Whether a task was written whole, with starts that were settled or not, as is wanted now."""
    return told.is_file() and json.loads(told.read_text())["settled"] == settled


def export(tasks: Any, suite: str, number: int, out: Path) -> dict[str, Any]:
    """Write XML and start states of a task. Returns what else there is to know of it."""
    task = tasks.get_task(number)
    problem = os.path.join(get_libero_path("bddl_files"), task.problem_folder, task.bddl_file)
    wrapper = ControlEnv(problem, has_offscreen_renderer=False, use_camera_obs=False)
    wrapper.seed(SEED)
    wrapper.reset()
    stem = out / f"{suite}_{number}"
    stem.with_suffix(".xml").write_text(wrapper.sim.model.get_xml())
    starts = np.asarray(tasks.get_task_init_states(number), dtype=np.float64)
    size = wrapper.sim.model.nq
    if np.abs(starts[:, 1 + size :]).max() > 0:
        raise SystemExit(f"{stem.name}: expected start states at rest")
    poses = starts[:, 1 : 1 + size]
    settled = (suite, number) in SETTLED
    if settled:
        poses = np.stack([settle(wrapper, start)[:size] for start in starts])
    np.save(stem.with_suffix(".npy"), poses)
    env = wrapper.env
    fact = {
        "suite": suite,
        "number": number,
        "language": task.language,
        "settled": settled,
        "joints": joints_of(wrapper.sim.model),
        "objects": {name: root_of(each) for name, each in env.objects_dict.items()},
        "fixtures": {name: root_of(each) for name, each in env.fixtures_dict.items() if has_body(each)},
        "categories": {name: each.category_name for name, each in {**env.objects_dict, **env.fixtures_dict}.items()},
        "goal": [goal(env, part) for part in env.parsed_problem["goal_state"]],
        "home": [float(value) for value in env.robots[0].init_qpos],
    }
    wrapper.close()
    return fact


def settle(wrapper: Any, start: Any) -> Any:
    wrapper.reset()
    wrapper.set_init_state(start)
    for _ in range(DUMMY_STEPS):
        wrapper.step(DUMMY)
    return np.array(wrapper.sim.data.qpos)


def joints_of(model: Any) -> list[list[Any]]:
    """Name and first position of every joint, in the order of qpos."""
    return [[model.joint_id2name(index), int(model._model.jnt_qposadr[index])] for index in range(model.njnt)]


def has_body(thing: Any) -> bool:
    return getattr(thing, "root_body", None) is not None


def root_of(thing: Any) -> str:
    return str(thing.root_body)


def goal(env: Any, part: list[str]) -> dict[str, Any]:
    """One term of the task's goal, with the joints and thresholds that its objects have in code."""
    verb, *names = part
    found: dict[str, Any] = {"verb": verb.lower(), "names": names}
    last = env.object_states_dict[names[-1]]
    found["is_site"] = last.object_state_type == "site"
    found["parent"] = getattr(last, "parent_name", None)
    found["judged_above"] = found["is_site"] and hasattr(env.object_sites_dict[names[-1]], "under")
    if found["is_site"]:
        found["size"] = [float(value) for value in env.object_sites_dict[names[-1]].size]
    if verb.lower() in ("open", "close", "turnon", "turnoff"):
        owner = env.get_object(last.parent_name) if found["is_site"] else env.get_object(names[-1])
        holder = env.object_sites_dict[names[-1]] if found["is_site"] else owner
        found["joints"] = list(holder.joints)
        found["ranges"] = {
            name: [float(value) for value in values] for name, values in owner.object_properties["articulation"].items()
        }
        found["kind"] = type(owner).__name__
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
