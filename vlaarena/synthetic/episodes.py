"""Episodes of a synthetic arena: copies, under new ids, of a few that were actually played."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.conf import settings
from pymongo import MongoClient

from arena.store import COLLECTION, Document, get_store
from robots.limits import limits_of
from simulation import catalogue
from simulation.cameras import render_profile
from simulation.contracts import Chunking
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import HoldStill, ScriptedExpert
from simulation.recorder import Recorder
from simulation.runner import run_episode

TURNS = 4
CHUNK = 500
EVERY_STEP = Chunking(execute=1)


def play(turns: int = TURNS) -> list[Document]:
    """Two documents per turn, from the same start: one by the expert and one by a policy that holds still."""
    scene = catalogue.scenes()[0]
    environment = Environment(scene.robots[0], scene.id)
    found = []
    for seed, instruction in zip(range(turns), _instructions(scene.id), strict=False):
        for policy in (ScriptedExpert(environment), HoldStill(environment)):
            recorder = Recorder()
            environment.reset(seed)
            limits = limits_of(instruction, scene.id, environment.world.control_hz)
            run_episode(environment, policy, instruction, seed, [recorder], limits, chunking=EVERY_STEP, cameras=())
            identity = {
                "instruction": instruction,
                "robot_id": scene.robots[0],
                "scene_id": scene.id,
                "seed": seed,
                "exploration": False,
            }
            document = build_document(identity, recorder.recording, environment, render_profile())
            found.append(document)
    return found


def save(documents: list[Document], copies: Iterable[tuple[int, dict[str, Any]]]) -> int:
    """Store copies of the documents; returns how many. Raises StoreUnavailable.

    `copies`: (index of the document, the fields to replace) of each copy.
    """
    get_store().ensure_indexes()
    saved, rest = 0, iter(copies)
    with MongoClient[Document](settings.MONGO_URL) as client:
        collection = client[settings.MONGO_DATABASE][COLLECTION]
        while chunk := [{**documents[index], **fields} for index, fields in islice(rest, CHUNK)]:
            saved += len(collection.insert_many(chunk, ordered=False).inserted_ids)
    return saved


def _instructions(scene_id: str) -> Iterator[str]:
    """One phrasing per suggested task of the scene with its first slot values, then with its second, and so on."""
    tasks = [task for task in catalogue.suggested_tasks() if task.scene_id == scene_id]
    for number in range(max(len(task.slots) for task in tasks)):
        for task in tasks:
            if number < len(task.slots):
                yield catalogue.phrasings(task.id, task.slots[number])[0].text
