"""Records what the scripted expert does in LIBERO's tasks: pictures, state and actions of the episodes that it solves.

    .venv/bin/python scripts/libero/demonstrate.py var/libero-demos libero_object_0 libero_object_1 --starts 50

One file for each episode, TASK-START.npz: `text`, `agentview` and `wrist` (n, SIDE, SIDE, 3), `state` (n, 8) and
`actions` (n, 7). What is there already is passed over.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

BASE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(BASE))

from simulation import catalogue  # noqa: E402
from simulation.contracts import CameraSpec, Floats  # noqa: E402
from simulation.environment import Environment  # noqa: E402
from simulation.panda_expert import PandaExpert  # noqa: E402

SIDE = 128
CAMERAS = (CameraSpec("agentview", SIDE, SIDE), CameraSpec("wrist", SIDE, SIDE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("task", nargs="+", help="libero_object_0, ...")
    parser.add_argument("--starts", type=int, default=50, help="of the 50, from the first on")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for task in options.task:
        environment = Environment("panda", task)
        kept = sum(record(environment, task, start, options.folder) for start in range(options.starts))
        print(f"{task}: {kept} of {options.starts}", flush=True)


def record(environment: Environment, task: str, start: int, folder: Path) -> bool:
    """Whether the file of this episode is there now."""
    file = folder / f"{task}-{start:02d}.npz"
    if not file.is_file():
        environment.reset(start)
        found = solved(environment, task, start)
        if found is None:
            return False
        fresh = file.with_suffix(".part")
        with fresh.open("wb") as out:
            np.savez_compressed(out, allow_pickle=False, **found)
        fresh.replace(file)
    return True


def solved(environment: Environment, task: str, seed: int) -> dict[str, Floats] | None:
    """The frames of one episode, None if its goal was not reached in the benchmark's steps."""
    text = catalogue.wording(task, catalogue.task(task).slots[0])
    environment.set_instruction(text)
    expert = PandaExpert(environment)
    expert.reset(text, seed)
    frames = []
    for step in range(catalogue.task(task).limits(environment.world.control_hz).max_steps):
        seen = environment.observe(text, step, CAMERAS)
        action = expert.infer(seen)[0]
        frames.append({**seen.images, "state": seen.proprioception, "actions": action.astype(np.float32)})
        if environment.step(action).judgement.success:
            return {name: np.array([frame[name] for frame in frames]) for name in frames[0]} | {"text": np.array(text)}
    return None


if __name__ == "__main__":
    main()
