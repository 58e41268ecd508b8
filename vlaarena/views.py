"""The pages that people see. All that moves on them comes from the API and the websocket."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone

from arena.errors import NotFound, UnknownName
from arena.models import Battle
from arena.permissions import check_may_look
from arena.serializers import is_public_id
from rankings import selectors
from rankings.selectors import LeaderboardQuery
from simulation import catalogue
from vlaarena import charts


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


def leaderboard(request: HttpRequest) -> HttpResponse:
    """A board as the address asks for it; with a name that does not exist, the global board and a word about it."""
    query = LeaderboardQuery.of(request.GET)
    complaint = ""
    try:
        board = selectors.leaderboard(query)
    except UnknownName as error:
        query, complaint = LeaderboardQuery(), str(error)
        board = selectors.leaderboard(query)
    updated = board["metadata"]["last_updated"]
    moment = datetime.fromisoformat(updated) if updated else None
    context = {
        "page": "leaderboard",
        "query": query,
        "complaint": complaint,
        "robots": catalogue.robots(),
        "ranked": charts.with_marks(board["rankings"]),
        "provisional": charts.with_marks(board["provisional"]),
        "metadata": board["metadata"],
        "updated": moment,
        "just_updated": moment is not None and timezone.now() - moment < timedelta(minutes=1),
        "filtered": bool(query.search or query.organization),
        "sorts": (("elo", "Rating"), ("votes", "Votes"), ("win_rate", "Win rate")),
    }
    return render(request, "leaderboard.html", context)
