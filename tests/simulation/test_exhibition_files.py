"""The exhibition that ships with the arena fits the scene that it is shown in. Else: scripts/exhibit.py."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulation.environment import Environment
from simulation.view_format import pack, unpack
from simulation.worlds import load_world

FOLDER = Path(__file__).resolve().parents[2] / "static" / "exhibition"
ABOUT = json.loads((FOLDER / "exhibition.json").read_text("utf-8"))
SEED = 3  # as in scripts/exhibit.py


@pytest.mark.parametrize("side", ["left", "right"])
def test_what_is_acted_begins_where_the_scene_begins_and_goes_on(side: str) -> None:
    world = load_world(ABOUT["robot_id"], ABOUT["scene_id"])
    content = (FOLDER / f"{side}.bin").read_bytes()
    rows = unpack(content, world.model.nq)
    start = Environment(ABOUT["robot_id"], ABOUT["scene_id"]).reset(SEED)
    assert len(rows) == ABOUT["rows"]
    assert rows[0].tobytes() == pack(start.qpos[None], world.view_scale)
    assert np.abs(np.diff(rows, axis=0)).max() > 10


@pytest.mark.parametrize("side", ["left", "right"])
def test_each_side_has_a_small_picture(side: str) -> None:
    content = (FOLDER / f"{side}.webp").read_bytes()
    assert len(content) < 60_000
    assert Image.open(BytesIO(content)).size == (640, 480)
