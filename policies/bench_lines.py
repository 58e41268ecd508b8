"""The lines of `make bench` about networks, each timed by `policies.bench` in a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = ("openvla", "octo")
MINI_MS = 60.0
AS_PLAIN = 1 / 1.3  # of the plain network's time
GPU_MS = {"openvla-7b": 51.0, "octo-base": 10.0}
GPU_BATCH = 1 / 4  # of a single action's time, for each of a batch of eight

# Name, value, lowest, highest, unit, at most, note.
Line = tuple[str, float, float, float, str, float | None, str]


def measure(published: list[str], device: str | None) -> Iterator[Line]:
    for subject in [*map(str, shipped()), *published]:
        timing = run(subject, device)
        if isinstance(timing, str):
            yield (f"{Path(subject).name}: {timing}", 0, 0, 0, "", None, "")
        else:
            yield from lines(timing, mini=subject not in published)


def shipped() -> list[Path]:
    """Shipped folders of the two families."""
    cards = sorted((ROOT / "policies" / "weights").glob("*/policy.json"))
    return [card.parent for card in cards if json.loads(card.read_text("utf-8")).get("family") in FAMILIES]


def run(subject: str, device: str | None) -> dict[str, Any] | str:
    """The timing, or the reason why there is none."""
    command = [sys.executable, "-m", "policies.bench", subject, *(["--device", device] if device else [])]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False
    )
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    timing: dict[str, Any] = json.loads(done.stdout)
    return timing


def lines(timing: dict[str, Any], mini: bool) -> Iterator[Line]:
    name, cuda = timing["name"], not timing["device"].startswith("cpu")
    action, plain, batch = (statistics.median(timing[f"{kind}_ms"]) for kind in ("action", "plain", "batch"))
    goal = GPU_MS.get(name) if cuda else MINI_MS if mini else None
    spread = min(timing["action_ms"]), max(timing["action_ms"])
    yield (f"{name}, an action", action, *spread, "ms", goal, timing["device"])
    ratio = action / plain
    yield (f"{name}, of the plain way's time", ratio, ratio, ratio, "x", AS_PLAIN if mini else None, f"{plain:.1f} ms")
    each = batch / action
    note = f"{1e3 / batch:.0f} actions a second, together"
    yield (f"{name}, each of a batch of 8 / alone", each, each, each, "x", GPU_BATCH if cuda else None, note)
    yield (f"{name}, first action", timing["first_ms"], timing["first_ms"], timing["first_ms"], "ms", None, "")
    held = timing["memory_mb"]
    yield (f"{name}, memory", held, held, held, "MB", None, f"weights {timing['weights_mb']:.0f} MB")
    times = action / timing["floor_ms"]
    note = f"{timing['floor_ms']:.2f} ms to read its weights at {timing['bandwidth_gb_s']:.1f} GB/s"
    yield (f"{name}, an action / memory floor", times, times, times, "x", None, note)
