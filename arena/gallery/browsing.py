"""Reading the gallery: one query for a page, however many battles there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast
from urllib.parse import urlencode

from django.db.models import F, Q

from arena import kinds
from arena.errors import UnknownName
from arena.models import Contestant, GalleryEntry
from arena.models.gallery import GalleryQuerySet
from arena.shapes import GalleryRow, GallerySide

PAGE = 24
MOST_WORDS, LONGEST_WORD = 6, 40
INTERESTS: Mapping[str, Q] = {
    "disagreement": Q(disagrees=True),
    "near-miss": Q(near_miss=True),
    "upset": Q(upset=True),
    "watched": Q(views__gt=0),
}
"""What a visitor may look for beside words, a task and a model."""
WATCHED = "watched"
CURSOR = re.compile(r"(?:(\d{1,9})-)?(\d{1,18})\Z")


@dataclass(frozen=True)
class GalleryQuery:
    """What is looked for. Empty: everything. `after`: the cursor of the page before."""

    q: str = ""
    task: str = ""
    model: str = ""
    show: str = ""
    after: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> GalleryQuery:
        """Raises UnknownName for an interest or a cursor that does not exist. An unknown task or model has none."""
        given = {name: parameters.get(name, "").strip()[:200] for name in ("q", "task", "model", "show", "after")}
        query = cls(**{name: value.replace("\0", "") for name, value in given.items()})
        if query.show and query.show not in INTERESTS:
            raise UnknownName("show", INTERESTS)
        if query.after and not CURSOR.match(query.after):
            raise UnknownName("after", ["the `next` of a page"])
        return query

    @property
    def words(self) -> list[str]:
        return [word[:LONGEST_WORD] for word in self.q.split()[:MOST_WORDS]]

    def address(self, **changes: str) -> str:
        """The query of an address, with these changes; never a cursor unless it is among them."""
        wanted = vars(replace(self, after="")) | changes
        return urlencode({name: value for name, value in wanted.items() if value})


@dataclass(frozen=True)
class Page:
    """`following`: the cursor of the next page, "" if this is the last."""

    entries: list[GalleryEntry]
    following: str


def find(battle_id: str) -> GalleryEntry | None:
    """The entry of a battle that everybody may see."""
    return GalleryEntry.objects.public().to_be_shown().filter(vote__battle__battle_id=battle_id).order_by().first()


def page(query: GalleryQuery) -> Page:
    """One query. Newest first; those most watched by views."""
    rows = _matching(query)
    by_views = query.show == WATCHED
    if query.after and (cursor := CURSOR.match(query.after)):
        views, vote = int(cursor[1] or 0), int(cursor[2])
        older = Q(vote__lt=vote)
        rows = rows.filter(Q(views__lt=views) | Q(views=views) & older if by_views else older)
    found = list(rows.order_by(*(("-views", "-vote_id") if by_views else ("-vote_id",)))[: PAGE + 1])
    if len(found) <= PAGE:
        return Page(found, "")
    last = found[PAGE - 1]
    return Page(found[:PAGE], f"{last.views}-{last.pk}" if by_views else str(last.pk))


def _matching(query: GalleryQuery) -> GalleryQuerySet:
    rows = GalleryEntry.objects.public().to_be_shown()
    for word in query.words:
        rows = rows.filter(instruction__icontains=word)
    if query.task:
        rows = rows.filter(task=query.task)
    if query.model:
        rows = rows.filter(Q(left_model=query.model) | Q(right_model=query.model))
    return rows.filter(INTERESTS[query.show]) if query.show else rows


def note_view(entry: GalleryEntry) -> None:
    GalleryEntry.objects.filter(pk=entry.pk).update(views=F("views") + 1)


def entry_json(entry: GalleryEntry) -> GalleryRow:
    """An entry as `GET gallery` tells it."""
    battle, vote = entry.vote.battle, entry.vote
    return {
        "battle_id": battle.battle_id,
        "kind": entry.kind,
        "instruction": entry.public_instruction,
        "task": entry.task or None,
        "vote": cast(Any, vote.vote),
        "voted_at": vote.voted_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "left": _side_json(entry.kind, entry.left_model, entry.left_episode),
        "right": _side_json(entry.kind, entry.right_model, entry.right_episode),
        "disagreement": entry.disagrees,
        "near_miss": entry.near_miss,
        "upset": entry.upset,
        "views": entry.views,
    }


def _side_json(kind: str, model: Contestant, episode_id: str) -> GallerySide:
    return {
        "model_id": model.pk,
        "name": model.name,
        "episode_id": episode_id,
        "thumbnail": kinds.get(kind).thumbnail(episode_id),
    }
