"""`make bench-memory`: the memory of each process of a shipped arena, once it is ready and after some turns.

Proportional set sizes, which count shared pages once. `own`: pages that only this process has, anonymous or written to,
which go when it goes. It starts a new arena in a temporary folder; settings are those of the environment, so that two
runs can compare one setting (`MALLOC_ARENA_MAX=2 make bench-memory`).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psutil
from bench_report import machine
from load import NO_LIMITS

from tests.stack import Arena, wait_until
from tests.visitor import Visitor

WANTED_MB = 1200.0
TURN_S = 300.0
TURNS = (
    ("table", "stack the red cube on the yellow cube"),
    ("table", "put the yellow cube on the left plate"),
    ("workbench", "press the button"),
    ("cabinet", "open the drawer"),
)


class Size(NamedTuple):
    """In MB."""

    pss: float
    own: float


def sizes(arena: Arena) -> dict[str, Size]:
    """By the name of the part; the child processes of a part are numbered."""
    names = {pid: name for name, pid in arena.children().items()} | {arena.process.pid: "supervisor"}
    found: dict[str, Size] = {}
    for process in [psutil.Process(arena.process.pid), *arena.processes()]:
        try:
            name, parent = names.get(process.pid), names.get(process.ppid(), "other")
            size = _size(process.pid)
        except (psutil.NoSuchProcess, ProcessLookupError):
            continue
        number = sum(known.startswith(f"{parent}, process") for known in found) + 1
        found[name or f"{parent}, process {number}"] = size
    return found


def _size(pid: int) -> Size:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return Size(kilobytes["Pss"] / 1e3, (kilobytes["Private_Dirty"] + kilobytes["Private_Clean"]) / 1e3)


def play(arena: Arena, turns: int, scenes: list[str]) -> None:
    visitor, chosen = Visitor(arena.url), [each for each in TURNS if each[0] in scenes]
    wait_until(lambda: _is_played(visitor, scenes[0]), TURN_S)
    for scene, instruction in islice(cycle(chosen), turns):
        battle = visitor.open_battle(scene_id=scene)
        visitor.wait_for_turn(visitor.send_turn(battle, instruction), TURN_S)
        visitor.post("/api/votes", {"battle_id": battle, "vote": "tie"})


def _is_played(visitor: Visitor, scene: str) -> bool:
    """Whether a worker has announced policies for that scene."""
    status, _ = visitor.post("/api/sessions/init", {"robot_id": "widowx", "scene_id": scene})
    return status == 201


def rows(first: dict[str, Size], last: dict[str, Size]) -> list[str]:
    nothing = Size(0.0, 0.0)
    lines = ["| process | PSS at the start | PSS after the turns | of it its own |", "| --- | --- | --- | --- |"]
    for name in sorted(first | last):
        begun, ended = first.get(name, nothing), last.get(name, nothing)
        lines.append(f"| {name} | {begun.pss:.0f} | {ended.pss:.0f} | {ended.own:.0f} |")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--scenes", nargs="+", default=["table"], choices=sorted({scene for scene, _ in TURNS}))
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options = parser.parse_args()
    shipped = {"ARENA_KINDS": os.environ.get("ARENA_KINDS", ""), "ARENA_TURNS_PER_VISITOR": ""}
    with tempfile.TemporaryDirectory(prefix="vla-arena-memory-") as folder:
        arena = Arena(Path(folder), **NO_LIMITS, **shipped)
        try:
            arena.start(ready_within=600)
            first = sizes(arena)
            play(arena, options.turns, options.scenes)
            last = sizes(arena)
        finally:
            arena.close()
    before, after = (sum(size.pss for size in each.values()) for each in (first, last))
    if options.json:
        print(json.dumps({"first": first, "last": last, "first_mb": before, "last_mb": after}))
    else:
        print("\n".join(rows(first, last)))
    told = f"{before:.0f} MB at the start, {after:.0f} MB after {options.turns} turns (wanted: {WANTED_MB:.0f})"
    print(f"{len(last)} processes: {told}; load {os.getloadavg()[0]:.1f}; {machine()}", file=sys.stderr)
    return 0 if after < WANTED_MB else 1


if __name__ == "__main__":
    sys.exit(main())
