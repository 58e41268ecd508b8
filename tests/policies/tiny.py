"""A toy data set in the format of `manage.py demos`, small enough to train on in a test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLOURS = {"red": (220, 30, 30), "blue": (30, 30, 220)}
SIZE, CHUNK, STEPS, OTHERS = 32, 4, 8, 3


def write_demos(folder: Path, episodes: int = 12, seed: int = 0, shards: int = 2, size: int = SIZE) -> Path:
    """Two coloured squares; the action moves towards the named one."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    texts = [f"{verb} the {colour} cube" for colour in COLOURS for verb in ("lift", "take", "fetch")]
    trained = [number for number, text in enumerate(texts) if "fetch" not in text]
    listed = []
    for number, part in enumerate(np.array_split(np.arange(episodes), shards)):
        moments = [int(episode) for episode in part for _ in range(STEPS)]
        frames = [_frame(int(random.choice(trained)), episode, random, size) for episode in moments]
        shard = folder / f"shard-{number:05d}"
        shard.mkdir()
        for row, frame in enumerate(frames):
            frame["since"] = np.array(row % STEPS, np.int32)
        for name in frames[0]:
            np.save(shard / f"{name}.npy", np.stack([frame[name] for frame in frames]))
        listed.append({"name": shard.name, "frames": len(frames)})
    things = [f"{colour}_cube" for colour in COLOURS]
    tasks = [{"task": "pick", "slots": {"object": thing}} for thing in things]
    index = {"robot_id": "widowx", "texts": texts, "shards": listed, "things": things, "tasks": tasks}
    (folder / "dataset.json").write_text(json.dumps(index), "utf-8")
    return folder


def _frame(text: int, episode: int, random: np.random.Generator, size: int) -> dict[str, NDArray[Any]]:
    spots = {colour: random.integers(4, size - 8, 2) for colour in COLOURS}
    image = np.full((size, size, 3), 128, np.uint8)
    for colour, (x, y) in spots.items():
        image[y : y + 4, x : x + 4] = COLOURS[colour]
    centres = np.stack([(spot + 2.0) / size for spot in spots.values()])
    task = text // 3
    centre, other = centres[task], centres[1 - task]
    move = _towards(centre)
    return {
        "images": image,
        "proprioception": random.normal(0, 1, 8).astype(np.float32),
        "actions": np.tile(move, (CHUNK, 1)).astype(np.float32),
        "mask": np.ones(CHUNK, bool),
        "instruction": np.array(text, np.int32),
        "pixels": np.stack([centre, centre, [0.5, 1.5]]).astype(np.float32),
        "points": np.stack([[*centre, 0.0], [*centre, 0.0]]).astype(np.float32),
        "held": np.array(False),
        "yaw": np.array([0.0, 1.0], np.float32),
        "episode": np.array(episode, np.int32),
        "task": np.array(task, np.int32),
        "scene_pixels": centres.astype(np.float32),
        "scene_points": np.concatenate([centres, np.zeros((2, 1))], 1).astype(np.float32),
        "other_instructions": np.array([3 * (1 - task)] * OTHERS, np.int32),
        "other_tasks": np.array([1 - task] * OTHERS, np.int32),
        "other_actions": np.tile(_towards(other), (OTHERS, 1)).astype(np.float32),
    }


def _towards(centre: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([*(centre - 0.5) * 0.05, 0, 0, 0, 0.2 * (centre[0] - 0.5), float(centre[1] > 0.5)])
