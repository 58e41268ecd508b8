"""The battle page of every kind. Its script gets everything else from the API and the websocket."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy

from arena import kinds
from arena.api.serializers import is_public_id
from arena.errors import BattleHidden, NotFound, UnknownName
from arena.gallery import browsing, entering, sharing, views
from arena.kinds import Kind, Place
from arena.models import WHY_LENGTH, Battle, BattleStatus, GalleryEntry, Judgement
from arena.pages.parts import below_shared
from arena.pages.places import choices
from arena.visitors.permissions import check_may_look, check_public

JUDGEMENTS = (
    (Judgement.LEFT, gettext_lazy("Left")),
    (Judgement.EQUAL, gettext_lazy("Equal")),
    (Judgement.RIGHT, gettext_lazy("Right")),
)


def battle(request: HttpRequest, kind: Kind, battle_id: str = "") -> HttpResponse:
    """The battle page, with an id that of this battle. 404 unless the visitor may see it."""
    if battle_id:
        found = _find(battle_id)
        try:
            check_may_look(request, found.session)
        except NotFound:
            raise Http404 from None
        if found.session.kind != kind.id:  # lists of sessions link to one page only
            return redirect(f"{kinds.of(found.session).address}-detail", battle_id)
        place = kinds.place_of(found.session)
        return _own_page(request, kind, place, battle_id=battle_id, hidden=_is_hidden(found))
    if not kind.offered:
        raise Http404
    try:
        place = kind.choose(request.GET)
    except UnknownName:
        return redirect(kind.address)
    return _own_page(request, kind, place, battle_id="")


def shared_battle(request: HttpRequest, battle_id: str) -> HttpResponse:
    """A voted battle, read-only, for anybody who has its address, unless a moderator hid it."""
    found = _find(battle_id)
    if found.status != BattleStatus.VOTED:
        raise Http404
    try:
        check_public(request, found)
    except BattleHidden:
        return render(request, "arena/hidden.html", status=BattleHidden.status)
    session = found.session
    shown: dict[str, Any] = {"hidden": _is_hidden(found), "parts_below": below_shared(request, found)}
    if entry := browsing.find(battle_id) or _entered(battle_id):
        shown |= sharing.context(request, entry)
        views.note_view(request, entry)
    return _page(request, kinds.of(session), kinds.place_of(session), battle_id=battle_id, shared=True, **shown)


def _is_hidden(battle: Battle) -> bool:
    return battle.hidden_at is not None


def _entered(battle_id: str) -> GalleryEntry | None:
    """The entry of a battle whose message to the drawing worker is under way or lost."""
    entering.enter(battle_id)
    return browsing.find(battle_id)


def _find(battle_id: str) -> Battle:
    if not is_public_id(battle_id):
        raise Http404
    return get_object_or_404(Battle.objects.select_related("session"), battle_id=battle_id)


def _own_page(request: HttpRequest, kind: Kind, place: Place, **context: Any) -> HttpResponse:
    return _page(request, kind, place, page="battle", places=choices(kind, place, request.GET), **context)


def _page(request: HttpRequest, kind: Kind, place: Place, **context: Any) -> HttpResponse:
    shared = {
        "kind": kind,
        "judgements": JUDGEMENTS,
        "undo_seconds": f"{settings.VOTE_UNDO_SECONDS:g}",
        "longest_instruction": kind.longest_instruction,
        "longest_why": WHY_LENGTH,
    }
    response = render(request, kind.template, {**kind.page_context(place), **shared, **context})
    if kind.features:
        response.allowed_features = kind.features  # type: ignore[attr-defined] # read by vlaarena.page_headers
    if sources := kind.sources(split_domain_port(request.get_host())[0]):
        response._csp_update = sources  # type: ignore[attr-defined] # as django-csp's csp_update does
    return response
