"""Offers the nearest-demonstration policy for LIBERO: it plays the actions of one recorded episode, blindly.

    .venv/bin/python scripts/libero/serve_nearest.py var/libero-demos --port 8010 --most 50
    .venv/bin/python manage.py add_policy nearest --url ws://127.0.0.1:8010

Of the episodes with its instruction it takes the one whose first picture is most like the first that it sees. Then it
looks no more. For another instruction it holds still. It is no network: a floor, under which none should fall.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BASE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(BASE))

from policies.base import PolicyCard  # noqa: E402
from policies.remote.server import Offer, start  # noqa: E402
from simulation.contracts import LIBERO_ACTIONS, LIBERO_STATE, Floats, Observation  # noqa: E402

SIDE, CHUNK = 128, 10
STILL = np.array([0.0] * 6 + [-1.0])
Episode = tuple[NDArray[np.float32], Floats]
"""The first picture (SIDE / 4, SIDE / 4, 3), and the actions (n, 7)."""


class Nearest:
    """An actor (contracts.Actor). `known`: the episodes of each instruction."""

    def __init__(self, known: dict[str, list[Episode]]) -> None:
        self._known = known
        self._plan: Floats | None = None
        self._step = 0

    def reset(self, instruction: str, seed: int) -> None:
        self._plan, self._step = None, 0

    def infer(self, observation: Observation) -> Floats:
        if self._plan is None:
            self._plan = self._chosen(observation)
        rows = self._plan[self._step : self._step + CHUNK]
        self._step += CHUNK
        return np.concatenate([rows, np.tile(STILL, (CHUNK - len(rows), 1))])

    def close(self) -> None:
        pass

    def _chosen(self, observation: Observation) -> Floats:
        seen = small(observation.images["agentview"])
        found = self._known.get(observation.instruction, [])
        apart = [float(np.abs(first - seen).mean()) for first, _ in found]
        return found[int(np.argmin(apart))][1] if found else np.empty((0, 7))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="what demonstrate.py has written")
    parser.add_argument("--port", type=int, default=8010)
    parser.add_argument("--most", type=int, default=50, help="episodes of each instruction that it knows")
    options = parser.parse_args()
    files = sorted(options.folder.glob("*.npz"))
    known = episodes(files, options.most)
    if not known:
        sys.exit(f"no episodes in {options.folder}; run demonstrate.py first")
    server = start(Offer(card(files, options.most), lambda: Nearest(known)), "127.0.0.1", options.port)
    print(f"{sum(map(len, known.values()))} episodes at ws://127.0.0.1:{options.port}", flush=True)
    server.serve_forever()


def episodes(files: Iterable[Path], most: int) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for file in files:
        with np.load(file, allow_pickle=False) as told:
            here = found.setdefault(str(told["text"]), [])
            if len(here) < most:
                here.append((small(told["agentview"][0]), told["actions"].astype(np.float64)))
    return found


def small(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Means of 4 x 4 pixels."""
    cells = picture.reshape(SIDE // 4, 4, SIDE // 4, 4, 3)
    return np.asarray(cells.mean((1, 3)), np.float32)


def card(files: Iterable[Path], most: int) -> PolicyCard:
    names = " ".join([str(most), *(file.name for file in files)])
    told: dict[str, Any] = {
        "id": "nearest",
        "name": "Nearest demonstration" if most > 1 else "One demonstration",
        "family": "remote",
        "description": f"Plays what the scripted expert did from the most alike of {most} starts. No network.",
        "organization": "VLA Arena",
        "license": "Apache-2.0",
        "provenance": "Recorded from the scripted expert, which reads the simulator's state",
        "revision": hashlib.sha256(names.encode()).hexdigest(),
        "statistics_key": "",
        "cameras": [{"name": "agentview", "height": SIDE, "width": SIDE}],
        "chunk": CHUNK,
        "execute": CHUNK,
        "ensembling": None,
        "action_space": LIBERO_ACTIONS,
        "rate_hz": 20,
        "proprioception": LIBERO_STATE,
        "network": {"url": "ws://here"},
        "training": {},
        "measured": {},
    }
    return PolicyCard.from_json(told)


if __name__ == "__main__":
    main()
