"""The gallery of voted battles, and a shared battle in a frame of another site."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.clickjacking import xframe_options_exempt

from arena import kinds
from arena.api.serializers import is_public_id
from arena.errors import UnknownName
from arena.gallery import browsing, sharing
from arena.gallery.browsing import GalleryQuery
from arena.models import Contestant, ContestantQuerySet, GalleryEntry, VoteChoice

INTERESTS = {
    "": gettext_lazy("Newest"),
    "watched": gettext_lazy("Most watched"),
    "disagreement": gettext_lazy("Votes and physics disagree"),
    "near-miss": gettext_lazy("Near misses"),
    "upset": gettext_lazy("Upsets"),
}
EXPLAINED = {
    "": "",
    "watched": gettext_lazy("Shared battles, ordered by how many people have watched them."),
    "disagreement": gettext_lazy("One side reached the goal, but the voter did not prefer it."),
    "near-miss": gettext_lazy("A side came close to the goal but did not reach it."),
    "upset": gettext_lazy("The model with the lower rating won."),
}


def gallery(request: HttpRequest) -> HttpResponse:
    try:
        query = GalleryQuery.of(request.GET)
    except UnknownName:
        return redirect("gallery")
    found = browsing.page(query)
    context: dict[str, Any] = {
        "page": "gallery",
        "query": query,
        "cards": [card_of(entry) for entry in found.entries],
        "following": query.address(after=found.following) if found.following else "",
        "interests": [
            {"name": name, "label": label, "address": query.address(show=name), "current": name == query.show}
            for name, label in INTERESTS.items()
        ],
        "explained": EXPLAINED[query.show],
        "tasks": {task: gettext(name) for kind in kinds.every() for task, name in kind.tasks().items()},
        "models": _contestants().order_by("name").values_list("pk", "name"),
        "is_filtered": bool(query.q or query.task or query.model or query.show),
    }
    return render(request, "arena/gallery.html", context)


def _contestants() -> ContestantQuerySet[Contestant]:
    """Those of the kinds that the site offers."""
    return Contestant.objects.filter(reference=False, kind__in=[kind.id for kind in kinds.every()])


def card_of(entry: GalleryEntry) -> dict[str, Any]:
    """A battle in a list: both sides with their thumbnails, and who was preferred."""
    kind, vote = kinds.get(entry.kind), VoteChoice(entry.vote.vote)
    sides = (
        ("left", entry.left_model, entry.left_episode, vote == VoteChoice.LEFT_BETTER),
        ("right", entry.right_model, entry.right_episode, vote == VoteChoice.RIGHT_BETTER),
    )
    return {
        "entry": entry,
        "battle_id": entry.vote.battle_id,
        "verdict": VERDICTS.get(vote, ""),
        "sides": [
            {
                "side": side,
                "name": model.name,
                "won": won,
                "thumbnail": kind.thumbnail(episode),
                "still": kind.still(episode),
            }
            for side, model, episode, won in sides
        ],
    }


VERDICTS = {VoteChoice.TIE: gettext_lazy("Tie"), VoteChoice.BOTH_BAD: gettext_lazy("Both bad")}


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type] # it passes on all arguments
def embedded_battle(request: HttpRequest, battle_id: str) -> HttpResponse:
    """A voted battle without the site around it. The one page that other sites may frame."""
    entry = browsing.find(battle_id) if is_public_id(battle_id) else None
    if entry is None:
        raise Http404
    context = {**sharing.context(request, entry), "card": card_of(entry)}
    response = render(request, "arena/embed.html", context)
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
