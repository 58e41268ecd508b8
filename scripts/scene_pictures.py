"""Draws the small pictures from which visitors choose a scene: `scripts/scene_pictures.py`.

The first state of a seed in every scene, as the pictures of the gallery are drawn, into static/images/scenes/. Run it
again when a scene, a robot or the look of the pictures (simulation/pictures.py) has changed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

from PIL import Image  # noqa: E402 - the repository is not installed as a package

from simulation import catalogue  # noqa: E402
from simulation.environment import Environment  # noqa: E402
from simulation.pictures import Artist  # noqa: E402

OUT = ROOT / "static" / "images" / "scenes"
SEED = 3
SIZE = (288, 192)
QUALITY = 78


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for robot_id, scene_id in catalogue.worlds():
        environment = Environment(robot_id, scene_id)
        positions = environment.reset(SEED).qpos
        artist = Artist(environment.world)
        try:
            picture = Image.fromarray(artist.draw(positions, SIZE))
        finally:
            artist.close()
        path = OUT / f"{robot_id}-{scene_id}.webp"
        picture.save(path, quality=QUALITY, method=6)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
