"""Records the battle that the home page shows in an arena without one of its own: `scripts/exhibit.py`.

Two shipped policies play one instruction from one start. What can be seen of it (simulation/view_format.py), the last
picture of each side, and who played are written into static/exhibition/. Same policies, same scene: same files. Run it
again when the scene, the look of the pictures (simulation/pictures.py) or one of the two policies has changed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

import django  # noqa: E402 - the repository is not installed as a package

django.setup()

from policies.folder import read_card  # noqa: E402
from robots.players import open_folder  # noqa: E402
from simulation import pictures  # noqa: E402
from simulation.cameras import render_profile  # noqa: E402
from simulation.contracts import StartState  # noqa: E402
from simulation.environment import Environment  # noqa: E402
from simulation.episode_format import build_document  # noqa: E402
from simulation.recorder import Recorder  # noqa: E402
from simulation.view_format import ROWS_PER_CHUNK, until  # noqa: E402

OUT = ROOT / "static" / "exhibition"
ROBOT, SCENE = "widowx", "table"
INSTRUCTION, SEED = "stack the red cube on the yellow cube", 3
SIDES = {"left": "octo-mini", "right": "openvla-mini"}


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    environment = Environment(ROBOT, SCENE)
    start = environment.reset(SEED)
    played = {side: _play(environment, start, model_id) for side, model_id in SIDES.items()}
    longest = max(len(document["actions"]) for document in played.values())
    for side, document in played.items():
        (OUT / f"{side}.bin").write_bytes(until(longest, document["view"], len(document["view_scale"])))
        (OUT / f"{side}.webp").write_bytes(pictures.still(document))
    sides = {side: _told(document) for side, document in played.items()}
    about = {
        "robot_id": ROBOT,
        "scene_id": SCENE,
        "instruction": INSTRUCTION,
        "rows": ROWS_PER_CHUNK * longest + 1,
        "sides": sides,
    }
    (OUT / "exhibition.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
    for side, told in sides.items():
        print(side, told)


def _play(environment: Environment, start: StartState, model_id: str) -> dict[str, Any]:
    folder = ROOT / "policies" / "weights" / model_id
    recorder = Recorder()
    environment.restore(start)
    player = open_folder(folder, environment)
    player.play(environment, INSTRUCTION, SEED, [recorder])
    player.close()
    return build_document(
        {"model_id": model_id, "robot_id": ROBOT, "scene_id": SCENE, "seed": SEED},
        recorder.recording,
        environment,
        render_profile(),
    )


def _told(document: dict[str, Any]) -> dict[str, Any]:
    names = ("model_id", "success", "steps", "start_hash")
    told = {name: document[name] for name in names}
    return {**told, "name": read_card(ROOT / "policies" / "weights" / document["model_id"]).spec.name}


if __name__ == "__main__":
    main()
