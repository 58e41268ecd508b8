"""The battle page of every kind. All that moves on it comes from the API and the websocket."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy

from arena import kinds
from arena.api.serializers import is_public_id
from arena.errors import NotFound
from arena.kinds import Kind, Place
from arena.models import Battle, BattleStatus, Judgement
from arena.visitors.permissions import check_may_look

JUDGEMENTS = (
    (Judgement.LEFT, gettext_lazy("Left")),
    (Judgement.EQUAL, gettext_lazy("Equal")),
    (Judgement.RIGHT, gettext_lazy("Right")),
)


def battle(request: HttpRequest, kind: Kind, battle_id: str = "") -> HttpResponse:
    """The battle page; with an id, that battle, if the visitor may look at it: see arena.visitors.permissions."""
    if battle_id:
        found = _find(battle_id)
        try:
            check_may_look(request, found.session if found else None)
        except NotFound:
            raise Http404 from None
        if found is not None and found.session.kind != kind.id:  # lists of sessions know one page only
            return redirect(f"{kinds.of(found.session).address}-detail", battle_id)
    return _page(request, kind, kind.choose({}), page="battle", battle_id=battle_id)


def shared_battle(request: HttpRequest, battle_id: str) -> HttpResponse:
    """A voted battle, read-only, for whoever has its address."""
    found = _find(battle_id)
    if found is None or found.status != BattleStatus.VOTED:
        raise Http404
    session = found.session
    return _page(request, kinds.of(session), kinds.place_of(session), battle_id=battle_id, shared=True)


def _find(battle_id: str) -> Battle | None:
    battles = Battle.objects.select_related("session").filter(battle_id=battle_id)
    return battles.first() if is_public_id(battle_id) else None


def _page(request: HttpRequest, kind: Kind, place: Place, **context: Any) -> HttpResponse:
    shared = {"kind": kind, "judgements": JUDGEMENTS, "longest_instruction": settings.INSTRUCTION_MAX_LENGTH}
    return render(request, kind.template, {**kind.page_context(place), **shared, **context})
