"""The pages that people see. All that moves on them comes from the API and the websocket."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from arena.api.serializers import is_public_id
from arena.errors import NotFound
from arena.models import Battle, BattleStatus
from arena.visitors.permissions import check_may_look
from simulation import catalogue

# As the vote's form shows them; their names are those of arena.models.REASONS and Judgement.
REASONS = (
    ("closer", gettext_lazy("Closer to the goal")),
    ("smoother", gettext_lazy("Smoother")),
    ("safer", gettext_lazy("Safer")),
    ("faster", gettext_lazy("Faster")),
)
JUDGEMENTS = (("left", gettext_lazy("Left")), ("equal", gettext_lazy("Equal")), ("right", gettext_lazy("Right")))


def battle(request: HttpRequest, battle_id: str = "") -> HttpResponse:
    """The battle page; with an id, that battle, if the visitor may look at it: see arena.visitors.permissions."""
    if battle_id:
        _check_own(request, battle_id)
    return render(request, "battle.html", _battle_context(battle_id, settings.DEFAULT_ROBOT, settings.DEFAULT_SCENE))


def shared_battle(request: HttpRequest, battle_id: str) -> HttpResponse:
    """A voted battle, read-only, for whoever has its address."""
    battles = Battle.objects.select_related("session").filter(battle_id=battle_id, status=BattleStatus.VOTED)
    found = battles.first() if is_public_id(battle_id) else None
    if found is None:
        raise Http404
    context = _battle_context(battle_id, found.session.setting, found.session.scene)
    return render(request, "battle.html", {**context, "page": "", "shared": True})


def _battle_context(battle_id: str, robot_id: str, scene_id: str) -> dict[str, Any]:
    scene = catalogue.scene(scene_id)
    return {
        "page": "battle",
        "battle_id": battle_id,
        "robot": catalogue.robot(robot_id),
        "scene": scene,
        "longest_instruction": settings.INSTRUCTION_MAX_LENGTH,
        "suggestions": catalogue.suggestions(scene.id),
        "tasks": [_task(task) for task in catalogue.tasks() if task.scene_id == scene.id],
        "reasons": REASONS,
        "judgements": JUDGEMENTS,
    }


def _check_own(request: HttpRequest, battle_id: str) -> None:
    battles = Battle.objects.select_related("session").filter(battle_id=battle_id)
    found = battles.first() if is_public_id(battle_id) else None
    try:
        check_may_look(request, found.session if found else None)
    except NotFound:
        raise Http404 from None


def _task(task: catalogue.Task) -> dict[str, Any]:
    """A task with one wording for each of its fillings."""
    instructions = [catalogue.phrasings(task.id, slots)[0].text for slots in task.slots]
    return {"name": task.name, "description": task.description, "instructions": instructions}
