"""What a second process brings `manage.py evaluate`, beside what the cores of this machine give at all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Round:
    """Seconds, start included, of the same evaluation: on one process, on two, and twice at once on one process each.

    `processor`: processor time on two processes over that on one.
    """

    one: float
    two: float
    both: float
    processor: float

    @property
    def share(self) -> float:
        """Of the time on one process; half of it would be ideal."""
        return self.two / self.one

    @property
    def least(self) -> float:
        """The share that the machine allows: what one of two evaluations takes that share it."""
        return self.both / self.one / 2


def start(policy: str) -> tuple[float, float]:
    """Seconds of an evaluation of a single episode, and their processor time: hardly more than the start."""
    return _taken(policy, 1, workers=1, task="pick")


def episode(policy: str, episodes: int) -> float:
    """Processor seconds of each of so many episodes, the start left out."""
    _, few = start(policy)
    _, many = _taken(policy, 1 + episodes, workers=1, task="pick")
    return (many - few) / episodes


def rounds(policy: str, episodes: int, count: int) -> Iterator[Round]:
    """`count` times all three, one after the other, so that what else the machine does is shared by them."""
    for _ in range(count):
        one, used_by_one = _taken(policy, episodes, workers=1)
        two, used_by_two = _taken(policy, episodes, workers=2)
        both, _ = _taken(policy, episodes, workers=1, at_once=2)
        yield Round(one, two, both, used_by_two / used_by_one)


def _taken(policy: str, episodes: int, workers: int, at_once: int = 1, task: str = "") -> tuple[float, float]:
    """Seconds until all of them have ended, and their processor time. `task`: only this one."""
    command = [sys.executable, "manage.py", "evaluate", policy, "--json"]
    command += ["--episodes", str(episodes), "--workers", str(workers)]
    command += ["--task", task] if task else []
    began, used = time.perf_counter(), _used()
    running = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(at_once)
    ]
    for one in running:
        _, said = one.communicate()
        if one.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {one.returncode}: {said[-500:]}")
    return time.perf_counter() - began, _used() - used


def _used() -> float:
    """Processor time of children that have ended [s]."""
    times = os.times()
    return times.children_user + times.children_system
