"""Drawing, on the drawing worker."""

from __future__ import annotations

import logging
from collections.abc import Callable

from arena import kinds
from arena.drawings.asking import PREVIEW, preview_look
from arena.drawings.store import drawn, get_drawings
from arena.gallery import browsing, entering
from arena.kinds import Kind
from arena.models import Attempt, AttemptStatus, GalleryEntry
from arena.rules import revealed
from arena.store import StoreUnavailable, get_store

log = logging.getLogger(__name__)
AT_ONCE = ("picture.webp", "strip.webp")
"""Drawn of every voted battle. Other things are drawn when somebody asks for them."""


class NothingToDraw(Exception):
    """What was asked for is gone, has no vote, or its kind does not draw it."""


def draw(owner: str, name: str) -> None:
    """Draw and keep it, unless it is kept. Nothing is drawn of what is gone or has no vote. Raises StoreUnavailable."""
    try:
        if name == PREVIEW:
            draw_preview(owner)
        else:
            _draw_of_attempt(owner, name)
    except NothingToDraw as reason:
        log.info("%s of %s is not drawn: %s", name, owner, reason)


def draw_battle(battle_id: str) -> None:
    """Enter a voted battle into the gallery, and draw what lists and shared pages show of it and is not drawn yet.

    Raises StoreUnavailable.
    """
    entering.enter(battle_id)
    entry = browsing.find(battle_id)
    if entry is None:
        return
    kind, store = kinds.get(entry.kind), get_drawings()
    for name in (each for each in AT_ONCE if each in kind.drawings):
        for episode_id in (entry.left_episode, entry.right_episode):
            if store.claim(episode_id, name, kind.look):
                draw(episode_id, name)
    if store.claim(battle_id, PREVIEW, preview_look(kind, entry)):
        draw(battle_id, PREVIEW)


def draw_preview(battle_id: str) -> None:
    from arena.drawings.preview import compose

    entry = browsing.find(battle_id)
    if entry is None or not kinds.get(entry.kind).drawings:
        raise NothingToDraw("there is no such voted battle with pictures")
    kind = kinds.get(entry.kind)
    _keep(battle_id, PREVIEW, preview_look(kind, entry), lambda: compose(entry, *_stills(kind, entry)))


def _stills(kind: Kind, entry: GalleryEntry) -> list[bytes]:
    """The pictures of both sides, drawn now where they are not kept."""
    store, stills = get_drawings(), []
    for episode_id in (entry.left_episode, entry.right_episode):
        kept = drawn(store.get(episode_id, "picture.webp"), kind.look)
        stills.append(kept or kind.draw("picture.webp", _document(episode_id)))
    return stills


def _draw_of_attempt(episode_id: str, name: str) -> None:
    attempt = Attempt.objects.filter(episode_id=episode_id).select_related("turn__battle__session").first()
    if attempt is None or not revealed(attempt.turn.battle) or attempt.status != AttemptStatus.COMPLETED:
        raise NothingToDraw("there is no such recording of a voted battle")
    kind = kinds.of(attempt.turn)
    if name not in kind.drawings:
        raise NothingToDraw(f"{kind.id} draws no such thing")
    if drawn(get_drawings().get(episode_id, name), kind.look) is not None:
        raise NothingToDraw("it is drawn already")
    document = _document(episode_id)
    _keep(episode_id, name, kind.look, lambda: kind.draw(name, document))


def _document(episode_id: str) -> dict[str, object]:
    document = get_store().get(episode_id)
    if document is None:
        raise NothingToDraw("its recording is not in the store")
    return document


def _keep(owner: str, name: str, look: str, make: Callable[[], bytes]) -> None:
    try:
        content = make()
    except (StoreUnavailable, NothingToDraw):
        raise
    except Exception:  # the task's edge: who asks must learn that there will be none
        log.exception("%s of %s was not drawn", name, owner)
        get_drawings().note_failure(owner, name, look)
        return
    get_drawings().keep(owner, name, look, content)
