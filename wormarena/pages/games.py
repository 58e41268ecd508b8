"""Recent games, and the replay of one."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from arena.errors import UnknownName
from wormarena import selectors
from wormarena.models import Game, Participant
from wormarena.pages.base import DEATHS, OTHER_DEATH, RESULTS, address_of, dollars, played, worm_page
from wormarena.selectors import GamesQuery


def recent(request: HttpRequest) -> HttpResponse:
    try:
        query = GamesQuery.of(request.GET)
    except UnknownName:
        return redirect("worm-games")
    found, following = selectors.games(query)
    return worm_page(
        request,
        "games",
        query=query,
        results=RESULTS.items(),
        games=[_listed(game) for game in found],
        models=selectors.models("name").values_list("model_name", flat=True),
        following=query.address(after=following) if following else "",
        is_filtered=bool(query.model or query.gameType),
    )


def replay(request: HttpRequest, game_id: str) -> HttpResponse:
    game = None if "\0" in game_id else selectors.find(game_id)
    if game is None:
        raise Http404
    context = _listed(game)
    return worm_page(request, "replay", **context, address=request.build_absolute_uri(request.path))


def _listed(game: Game) -> dict[str, Any]:
    return {
        "game": game,
        "played_at": played(game.played_at),
        "cost": dollars(game.total_cost),
        "sides": [_side(each) for each in selectors.sides_of(game)],
    }


def _side(each: Participant) -> dict[str, Any]:
    return {
        "player": each,
        "result": RESULTS[each.result],
        "death": DEATHS.get(each.death_reason, OTHER_DEATH) if each.death_reason else "",
        "cost": dollars(each.total_cost),
        "address": address_of(each.model_name),
    }
