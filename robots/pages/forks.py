"""The page of a battle's forks, as a tree. Its visitor alone sees it, as the forks themselves."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.errors import NotFound
from arena.rules import revealed
from arena.visitors.permissions import own_battle
from policies.models import ROBOTS
from robots.fork_tree import tree_of


@never_cache
@require_safe
def battle_forks(request: HttpRequest, battle_id: str) -> HttpResponse:
    try:
        battle = own_battle(request, battle_id)
    except NotFound:
        raise Http404 from None
    if battle.session.kind != ROBOTS or not revealed(battle):
        raise Http404
    tree = tree_of(battle)
    number = {node["turn_id"]: node["seq"] for node in tree["turns"]}
    nodes = [
        {**node, "from_turn": number.get(node["parent"] or ""), "indent": min(node["depth"], 8)}
        for node in tree["turns"]
    ]
    return render(request, "robots/forks.html", {"page": "battle", "battle_id": battle_id, "nodes": nodes})
