"""Episodes for a synthetic arena: a few that were really played, again and again under other names."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.conf import settings
from pymongo import MongoClient

from arena.store import COLLECTION, Document, get_store
from simulation import catalogue
from simulation.cameras import render_profile
from simulation.contracts import Chunking, Limits
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import HoldStill, ScriptedExpert
from simulation.recorder import Recorder
from simulation.runner import run_episode
from vlaarena.synthetic.rows import Episode

TURNS = 4
CHUNK = 500
EVERY_STEP = Chunking(execute=1)


def play(turns: int = TURNS) -> list[Document]:
    """Two documents per turn: the expert's and that of a policy that holds still, from the same start."""
    scene = catalogue.scenes()[0]
    environment = Environment(scene.robots[0], scene.id)
    found = []
    for seed, instruction in zip(range(turns), _instructions(scene.id), strict=False):
        for policy in (ScriptedExpert(environment), HoldStill()):
            recorder = Recorder()
            environment.reset(seed)
            limits = Limits(max_steps=settings.ROLLOUT_MAX_STEPS, wall_s=settings.ROLLOUT_WALL_S)
            run_episode(environment, policy, instruction, seed, [recorder], limits, chunking=EVERY_STEP, cameras=())
            identity = {
                "instruction": instruction,
                "robot_id": scene.robots[0],
                "scene_id": scene.id,
                "seed": seed,
                "exploration": False,
            }
            document = build_document(
                identity,
                recorder.recording,
                engine_version=environment.engine_version,
                scene_hash=environment.scene_hash,
                render_profile=render_profile(),
                view_scale=environment.world.view_scale,
            )
            found.append(document)
    return found


def described(document: Document) -> Episode:
    names = {field.name for field in dataclasses.fields(Episode)}
    return Episode(**{name: document[name] for name in names})


def keep(documents: list[Document], own: Iterable[tuple[int, dict[str, Any]]]) -> int:
    """Write every episode, `documents` with what is its `own`; returns how many. Raises StoreUnavailable."""
    get_store().ensure_indexes()
    kept, rest = 0, iter(own)
    with MongoClient[Document](settings.MONGO_URL) as client:
        collection = client[settings.MONGO_DATABASE][COLLECTION]
        while chunk := [{**documents[number], **names} for number, names in islice(rest, CHUNK)]:
            kept += len(collection.insert_many(chunk, ordered=False).inserted_ids)
    return kept


def _instructions(scene_id: str) -> Iterator[str]:
    """One wording of each task of the scene, and then of the others of its fillings."""
    tasks = [task for task in catalogue.tasks() if task.scene_id == scene_id]
    for filling in range(max(len(task.slots) for task in tasks)):
        for task in tasks:
            if filling < len(task.slots):
                yield catalogue.phrasings(task.id, task.slots[filling])[0].text
