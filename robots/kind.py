"""Robots as a kind of arena: policies that act in MuJoCo. What plays is imported where it is played."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.utils.translation import gettext_lazy

from arena.kinds import CalibrationBattle, Json, Kind, Place
from arena.models import Attempt, Battle, Contestant, ContestantQuerySet
from arena.queue.hosting import Hosts
from policies.measured import overall
from policies.models import ROBOTS, Policy
from robots.eligibility import eligible, with_weights
from simulation import catalogue
from simulation.contracts import CONTROL_PERIOD
from simulation.view_format import ROWS_PER_STEP


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
    several_starts = forks = True
    template = "robots/battle.html"
    address = "battle"

    def places(self) -> Mapping[str, Sequence[str]]:
        first = {settings.DEFAULT_ROBOT: 0}
        robots = sorted(catalogue.robots(), key=lambda robot: first.get(robot.id, 1))
        return {robot.id: _default_first(robot.scenes) for robot in robots}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        return eligible(place.setting, place.scene)

    def contestants(self) -> ContestantQuerySet[Any]:
        return Policy.objects.defer("description")

    def facts(self, contestant: Contestant) -> Json:
        if not isinstance(contestant, Policy):
            raise TypeError(f"expected a robot policy, got {contestant!r}")
        return {
            "training_data": contestant.training_data,
            "parameters": contestant.parameters,
            "success": overall(contestant.card),
        }

    def titles(self) -> Mapping[str, str]:
        robots = {robot.id: robot.name for robot in catalogue.robots()}
        return robots | {scene.id: scene.name for scene in catalogue.scenes()}

    def contestant_address(self, model_id: str) -> str | None:
        return f"/models/{model_id}"

    def task_of(self, instruction: str) -> str:
        known = catalogue.task_for(instruction)
        return known[0] if known else ""

    def tasks(self) -> Mapping[str, str]:
        return {task.id: task.name for task in catalogue.tasks()}

    def calibration(self, battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
        from robots.calibration import maybe_repeat

        return maybe_repeat(battle, instruction, hosts)

    def play(self, episode_id: str) -> None:
        from robots.play import play

        play(episode_id)

    def load_libraries(self) -> None:
        from robots import play  # noqa: F401 - torch and mujoco

    def render_profile(self) -> str:
        from robots.rendering import ask_what_renders

        return ask_what_renders()

    def prepare(self) -> None:
        from robots.play import prepare_process

        prepare_process()

    def hosted(self) -> Iterable[Policy]:
        return with_weights()

    @property
    def chunk_s(self) -> float:
        return float(CONTROL_PERIOD / settings.RELEASE["speed"])

    @property
    def longest(self) -> int:
        return int(settings.ROLLOUT_MAX_STEPS)

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        """A chunk is the packed view rows of a step: one of the start, five of any other. The nearest row stays."""
        width = len(known) // _rows_of(known_number)
        return (known[:width] if known_number > number else known[-width:]) * _rows_of(number)

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """View rows (`simulation.view_format`) of both sides, packed and in base64; `from_row` counts from the start,
        which is row 0."""
        sides = [base64.b64encode(b"".join(chunks)).decode() for chunks in (left, right)]
        from_row = 0 if first == 0 else ROWS_PER_STEP * (first - 1) + 1
        return {"from_row": from_row, "left": sides[0], "right": sides[1]}

    def outcome(self, attempt: Attempt) -> Json:
        rollout = getattr(attempt, "rollout", None)
        return {**super().outcome(attempt), "start_hash": rollout.start_hash if rollout else ""}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        from robots.recordings import episode_json

        return dict(episode_json(attempt, document, common_length, exact))

    def page_context(self, place: Place) -> Json:
        scene = catalogue.scene(place.scene)
        return {
            "robot": catalogue.robot(place.setting),
            "scene": scene,
            "suggestions": catalogue.suggestions(scene.id),
            "tasks": [_task(task) for task in catalogue.tasks() if task.scene_id == scene.id],
        }


def _rows_of(number: int) -> int:
    return 1 if number == 0 else ROWS_PER_STEP


def _default_first(scenes: Sequence[str]) -> list[str]:
    return sorted(scenes, key=lambda scene: scene != settings.DEFAULT_SCENE)


def _task(task: catalogue.Task) -> Json:
    """A task with one wording for each of its fillings."""
    instructions = [catalogue.phrasings(task.id, slots)[0].text for slots in task.slots]
    return {"name": task.name, "description": task.description, "instructions": instructions}
