"""Robots as a kind of arena: policies that act in MuJoCo. Only workers import what plays."""

from __future__ import annotations

import base64
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.staticfiles import finders
from django.db.models import Q
from django.utils.translation import gettext_lazy

from arena.kinds import CalibrationBattle, Json, Kind, KnownTask, Place
from arena.models import Attempt, Battle, Contestant, ContestantQuerySet, Session
from arena.queue.hosting import Hosts
from arena.shapes import GoalJson
from policies.models import ROBOTS, Policy, PolicyWorld
from policies.registry import families
from robots import calibration, limits, published_tasks, things
from robots.recordings import episode_json
from robots.suggestions import suggestion
from simulation import additions, catalogue
from simulation.picture_format import LOOK
from simulation.view_format import CHUNK_S, ROWS_PER_CHUNK

log = logging.getLogger(__name__)
PROBE_TIMEOUT_S = 60.0
TASKS_KEPT = 500
FREE = gettext_lazy("Anything else")
FREE_NOTE = gettext_lazy("Say whatever you like. We cannot score these automatically: only people judge them.")


class Robots(Kind):
    id = ROBOTS
    title = gettext_lazy("Robots")
    names = Place("robot_id", "scene_id")
    reasons: ClassVar[Mapping[str, Any]] = {
        "closer": gettext_lazy("Closer to the goal"),
        "smoother": gettext_lazy("Smoother"),
        "safer": gettext_lazy("Safer"),
        "faster": gettext_lazy("Faster"),
    }
    details = ("rollout",)
    inconclusive = ("time_limit",)
    claimed_with = ("model__policy",)
    most_words = 16  # Octo mini takes 19 tokens, and a word is one at least: see policies.text.shorten
    introduced_with = {"policy": ("parameters", "training_data")}
    several_starts = forks = True
    drawings: ClassVar[Mapping[str, str]] = {
        "picture.webp": "image/webp",
        "strip.webp": "image/webp",
        "video.mp4": "video/mp4",
    }
    look = LOOK
    figures = "benchmarks"
    template = "robots/battle.html"
    address = "battle"

    def places(self) -> Mapping[str, Sequence[str]]:
        """The offered worlds whose assets are here, the default one first."""
        robots = sorted(catalogue.playable(), key=lambda world: world[0] != settings.DEFAULT_ROBOT)
        found: dict[str, list[str]] = {robot_id: [] for robot_id, _ in robots}
        for robot_id, scene_id in sorted(robots, key=lambda world: world[1] != settings.DEFAULT_SCENE):
            found[robot_id].append(scene_id)
        return found

    def choose(self, wanted: Any) -> Place:
        published_tasks.refresh()
        return super().choose(wanted)

    def known_places(self) -> Mapping[str, Sequence[str]]:
        return {robot.id: robot.scenes for robot in catalogue.robots()}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        """Contestants whose card declares the robot's action space and rate, and cameras of the scene. One query.

        A policy without a card declares nothing: it is compared when a worker opens its folder.
        """
        fitting = PolicyWorld.objects.filter(robot_id=place.setting, scene_id=place.scene).values("policy")
        return Contestant.objects.contestants().filter(Q(pk__in=fitting) | Q(policy__card={}))

    def picture_of(self, place: Place) -> str:
        """Drawn by scripts/scene_pictures.py."""
        path = f"images/scenes/{place.setting}-{place.scene}.webp"
        return path if finders.find(path) else ""

    def contestants(self) -> ContestantQuerySet[Any]:
        return Policy.objects.defer("description", "card")

    def facts(self, contestant: Contestant) -> Json:
        if not isinstance(contestant, Policy):
            raise TypeError(f"expected a robot policy, got {contestant!r}")
        return {
            "training_data": contestant.training_data,
            "parameters": contestant.parameters,
            "success": contestant.success,
        }

    def introduce(self, contestant: Contestant) -> Json:
        policy = getattr(contestant, "policy", None)
        return {"parameters": policy.parameters, "training_data": policy.training_data} if policy else {}

    def titles(self) -> Mapping[str, str]:
        robots = {robot.id: robot.name for robot in catalogue.robots()}
        return robots | {scene.id: scene.name for scene in catalogue.scenes()}

    def contestant_address(self, model_id: str) -> str | None:
        return f"/models/{model_id}"

    def task_of(self, instruction: str, scene: str) -> str:
        """Of the catalogue's files alone: boards are counted again from old votes, and must not change with what
        moderators publish."""
        with additions.as_of(additions.NEVER):
            known = catalogue.task_for(instruction, scene)
        return known[0] if known else ""

    def tasks(self) -> Mapping[str, str]:
        return {task.id: task.name for task in catalogue.offered_tasks()}

    def known_tasks(self) -> Mapping[str, KnownTask]:
        return {task.id: KnownTask(task.name, task.scene_id) for task in catalogue.tasks()}

    def check_instruction(self, battle: Battle, instruction: str, starts: int) -> None:
        published_tasks.refresh()
        things.check(battle, instruction, starts)

    def calibration(self, battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
        return calibration.maybe_repeat(battle, instruction, hosts)

    def seed_shown_again(self, session: Session) -> int | None:
        return calibration.seed_shown_again(session)

    def tend(self) -> None:
        from robots.first_state_maker import make_asked

        published_tasks.refresh()
        make_asked()

    def play(self, episode_id: str) -> None:
        from robots.play import play

        play(episode_id)

    def load_for_parts(self) -> None:
        """Worker and drawing worker. Other renderers than this open the graphics card as soon as they are loaded."""
        if os.environ.get("MUJOCO_GL") == "osmesa":
            from robots import drawings  # noqa: F401 - mujoco

    def load_libraries(self) -> None:
        from robots import play  # noqa: F401 - mujoco

    def share(self, contestants: Sequence[Contestant]) -> None:
        from robots.play import share

        share([each for each in contestants if isinstance(each, Policy)])

    def render_profile(self) -> str:
        return probe_render_profile()

    def prepare(self) -> None:
        from robots.play import prepare_process

        prepare_process()

    def hosted(self) -> Iterable[Policy]:
        """References, and policies whose weights are on this machine."""
        return Policy.objects.exclude(model_path="", adapter__in=families)

    @property
    def chunk_s(self) -> float:
        return float(CHUNK_S / settings.RELEASE["speed"])

    @property
    def longest(self) -> int:
        known = (*catalogue.offered_tasks(), *(each.task for each in additions.every()))
        return max(limits.of_free_text().max_steps, *(limits.of_task(task).max_steps for task in known))

    def longest_of(self, instruction: str, scene: str, said_at: datetime | None = None) -> int:
        published_tasks.refresh()
        with additions.as_of(said_at):
            return limits.limits_of(instruction, scene).max_steps

    def goal_of(self, instruction: str, scene: str, said_at: datetime | None = None) -> GoalJson | None:
        published_tasks.refresh()
        with additions.as_of(said_at):
            known = catalogue.task_for(instruction, scene)
        return {"task_id": known[0], "text": catalogue.wording(*known)} if known else None

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        """A chunk is the packed view rows of a fifth of a second: one of the start, five of any other.

        Repeats the nearest row.
        """
        width = len(known) // _rows_of(known_number)
        return (known[:width] if known_number > number else known[-width:]) * _rows_of(number)

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """Packed view rows (`simulation.view_format`) of both sides, in base64. Row 0 is the start."""
        sides = [base64.b64encode(b"".join(chunks)).decode() for chunks in (left, right)]
        from_row = 0 if first == 0 else ROWS_PER_CHUNK * (first - 1) + 1
        return {"from_row": from_row, "left": sides[0], "right": sides[1]}

    def outcome(self, attempt: Attempt) -> Json:
        rollout = getattr(attempt, "rollout", None)
        told = {**super().outcome(attempt), "start_hash": rollout.start_hash if rollout else ""}
        # Older rows say of free text that the goal was missed.
        with additions.as_of(attempt.turn.created_at):
            judged = catalogue.task_for(attempt.turn.instruction, attempt.turn.battle.session.scene)
        return told if judged else {**told, "success": None, "progress": None}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        return dict(episode_json(attempt, document, common_length, exact))

    def draw(self, name: str, document: Json) -> bytes:
        from robots.drawings import draw

        published_tasks.refresh()
        return draw(name, document)

    def page_context(self, place: Place) -> Json:
        published_tasks.refresh()
        scene = catalogue.scene(place.scene)
        offered = [task.id for task in catalogue.meant_tasks() if task.suggested and task.scene_id == scene.id]
        return {
            "robot": catalogue.robot(place.setting),
            "scene": scene,
            "suggestions": [suggestion(text, scene) for text in scene.suggestions],
            "engine_bytes": engine_bytes(),
            "movable": [(name, thing.nouns[0].text) for name, thing in scene.things.items() if thing.kind == "object"],
            "categories": [
                *(_category(task_id) for task_id in offered),
                _free(scene),
            ],
        }


@cache
def engine_bytes() -> int:
    """The size of the physics engine that browsers load, for telling how much of it is there; 0 if unknown."""
    found = finders.find("dist/mujoco.wasm")
    return Path(str(found)).stat().st_size if found else 0


def _rows_of(number: int) -> int:
    return 1 if number == 0 else ROWS_PER_CHUNK


def probe_render_profile() -> str:
    """The render profile of this worker's processes, "" if it cannot be found.

    Asks a process of its own: an OpenGL context does not survive a fork.
    """
    command = [sys.executable, "-c", "from simulation.cameras import render_profile; print(render_profile())"]
    try:
        asked = subprocess.run(
            command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=PROBE_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError) as error:
        log.error("The render profile of this worker could not be found: %s", error)
        return ""
    return asked.stdout.strip()


@lru_cache(TASKS_KEPT)
def _category(task_id: str) -> Json:
    """A task with one instruction for each of its values. It never changes: an id is used once."""
    task = catalogue.task(task_id)
    scene = catalogue.scene(task.scene_id)
    instructions = [suggestion(catalogue.wording(task.id, slots), scene) for slots in task.slots]
    return {"name": task.name, "description": task.description, "suggestions": instructions}


def _free(scene: catalogue.Scene) -> Json:
    return {"name": FREE, "description": FREE_NOTE, "suggestions": scene.free_suggestions, "free": True}
