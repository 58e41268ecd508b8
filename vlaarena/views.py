"""The pages that people see. All that moves on them comes from the API and the websocket."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render

from arena.errors import NotFound
from arena.models import Battle
from arena.permissions import check_may_look
from simulation import catalogue


def home(request: HttpRequest) -> HttpResponseRedirect:
    return redirect("battle")


def battle(request: HttpRequest, battle_id: str = "") -> HttpResponse:
    """The battle page; with an id, that battle, which has to be the visitor's own (staff may look at any)."""
    if battle_id:
        _check_own(request, battle_id)
    scene = catalogue.scene(settings.DEFAULT_SCENE)
    context = {
        "page": "battle",
        "battle_id": battle_id,
        "robot": catalogue.robot(settings.DEFAULT_ROBOT),
        "scene": scene,
        "suggestions": catalogue.suggestions(scene.id),
        "tasks": [_task(task) for task in catalogue.tasks() if task.scene_id == scene.id],
    }
    return render(request, "battle.html", context)


def _check_own(request: HttpRequest, battle_id: str) -> None:
    found = Battle.objects.select_related("session").filter(battle_id=battle_id).first()
    try:
        check_may_look(request, found.session if found else None)
    except NotFound:
        raise Http404 from None


def _task(task: catalogue.Task) -> dict[str, Any]:
    """A task with one wording for each of its fillings."""
    instructions = [catalogue.phrasings(task.id, slots)[0].text for slots in task.slots]
    return {"name": task.name, "description": task.description, "instructions": instructions}


def leaderboard(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard.html", {"page": "leaderboard"})
