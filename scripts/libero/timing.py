"""Times LIBERO here beside robosuite's own loop, in turns, and evaluation with two processes beside one.

    .venv/bin/python scripts/libero/timing.py [--rounds 3] [--side 256] [--steps 40]

Prints the median of each figure with its spread, and exits with 1 on a miss of a target.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

BASE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(BASE))
os.environ.setdefault("MUJOCO_GL", "osmesa")

from simulation.contracts import CameraSpec  # noqa: E402
from simulation.environment import Environment  # noqa: E402

THEIRS = BASE / "build" / "libero" / "venv" / "bin" / "python"
SUITES = ("libero_object", "libero_spatial")
THIRD, TWICE = 1 / 3, 1.7
"""At most that share of robosuite's time; at least so many times as many episodes with two processes."""
EVALUATED = ("libero_object_0", "libero_object_4", "libero_object_7")
STARTS = 30  # of each, so that the start of the command counts little


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", type=int, default=256, help="of both pictures")
    parser.add_argument("--steps", type=int, default=40, help="control steps in a round")
    options = parser.parse_args()
    loads = os.getloadavg()
    missed = [not compare(suite, options.rounds, options.side, options.steps) for suite in SUITES]
    missed.append(not evaluate(options.rounds))
    print(f"load before: {loads[0]:.1f}, {os.cpu_count()} processors")
    sys.exit(any(missed))


def compare(suite: str, rounds: int, side: int, steps: int) -> bool:
    """Whether a control step with two pictures takes at most a third of robosuite's processor time."""
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(robosuite(suite, side, steps))
        ours.append(own(suite, side, steps))
    shares = [one / other for one, other in zip(ours, theirs, strict=True)]
    print(
        f"{suite}: control step with two pictures of {side}: {told(ours)} ms here, {told(theirs)} ms in robosuite, "
        f"share {told(shares, 2)} (at most {THIRD:.2f})",
        flush=True,
    )
    return median(shares) <= THIRD


def own(suite: str, side: int, steps: int) -> float:
    """Processor milliseconds of a control step."""
    environment = Environment("panda", f"{suite}_0")
    environment.reset(0)
    cameras = (CameraSpec("agentview", side, side), CameraSpec("wrist", side, side))
    actions = np.random.default_rng(0).uniform(-0.4, 0.4, (steps, 7))
    environment.observe("", 0, cameras)
    began = time.process_time()
    for action in actions:
        environment.step(action)
        environment.observe("", 0, cameras)
    return 1e3 * (time.process_time() - began) / steps


def robosuite(suite: str, side: int, steps: int) -> float:
    """Likewise in robosuite, in the environment in which the scenes were made."""
    command = [str(THEIRS), str(BASE / "scripts/libero/robosuite_loop.py"), suite, "0", str(side), str(steps)]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "MUJOCO_GL": "osmesa"})
    return float(ran.stdout.splitlines()[-1])


def evaluate(rounds: int) -> bool:
    """Whether two processes play at least 1.7 times as many episodes a minute as one."""
    found = [(per_minute(1), per_minute(2)) for _ in range(rounds)]
    times = [two / one for one, two in found]
    print(
        f"evaluate: {told([one for one, _ in found])} episodes a minute in one process, "
        f"{told([two for _, two in found])} in two, {told(times, 2)} times as many (at least {TWICE})",
        flush=True,
    )
    return median(times) >= TWICE


def per_minute(workers: int) -> float:
    """Episodes of the expert a minute, the start of the command included."""
    command = [sys.executable, str(BASE / "manage.py"), "evaluate", "scripted-expert", "--suite", "libero-object"]
    command += [part for task in EVALUATED for part in ("--task", task)]
    command += ["--episodes", str(STARTS), "--workers", str(workers), "--json"]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=BASE)
    return 60 * STARTS * len(EVALUATED) / (time.perf_counter() - began)


def told(values: list[float], digits: int = 1) -> str:
    """The median and, of several, the ends."""
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


if __name__ == "__main__":
    main()
