"""Asking for drawings. Whoever asks gets the drawing, or learns that a worker is drawing it.

They wait in a queue of their own, from which only the drawing worker takes: no turn waits for a drawing.
"""

from __future__ import annotations

import logging
from pathlib import Path
from zlib import crc32

from celery import current_app
from django.conf import settings
from django.utils import timezone

from arena.drawings.store import FAILED, drawn, get_drawings, is_over
from arena.errors import DrawingFailed, NotDrawnYet, QueueUnavailable
from arena.kinds import Kind
from arena.models import GalleryEntry
from arena.queue.dispatch import NOT_SENT, RETRY

log = logging.getLogger(__name__)
DRAW, DRAW_BATTLE = "arena.draw", "arena.draw_battle"
PREVIEW, PREVIEW_TYPE, PREVIEW_LOOK = "preview.jpg", "image/jpeg", "preview-1"
GENERAL_PREVIEW = Path(__file__).parent / "general-preview.jpg"
"""The site's own picture (`scripts/general_preview.py`), for links to battles whose preview is not drawn."""
SOON, LATER, LAST = 0, 3, 9
"""Priorities of messages, as Valkey and Redis order them: pictures that a page waits for, other pictures, videos."""


def drawing(owner: str, name: str, look: str, priority: int = SOON) -> bytes:
    """The drawing. Raises NotDrawnYet after having asked a worker for it, DrawingFailed, QueueUnavailable."""
    store = get_drawings()
    known = store.get(owner, name)
    if (content := drawn(known, look)) is not None:
        return content
    if known is not None and known["state"] == FAILED and not is_over(known, look, timezone.now()):
        raise DrawingFailed
    ask(owner, name, look, priority)
    raise NotDrawnYet


def is_known(owner: str, name: str, look: str) -> bool:
    """Whether it was asked for or is drawn, in this look."""
    known = get_drawings().get(owner, name)
    return known is not None and known["look"] == look


def ask(owner: str, name: str, look: str, priority: int = SOON) -> None:
    """Have it drawn, unless it is drawn or asked for. Raises QueueUnavailable and StoreUnavailable."""
    store = get_drawings()
    if not store.claim(owner, name, look):
        return
    try:
        current_app.send_task(
            DRAW,
            args=[owner, name],
            queue=settings.DRAWINGS_QUEUE,
            priority=priority,
            retry=True,
            retry_policy=RETRY,
            ignore_result=True,
        )
    except NOT_SENT as error:
        store.release(owner, name)
        log.warning("The queue took no drawing: %r", error)
        raise QueueUnavailable from error


def ask_for_battle(battle_id: str) -> None:
    """Have drawn what lists and shared pages show of a battle, soon. If the queue is down, they ask for it later."""
    try:
        current_app.send_task(
            DRAW_BATTLE,
            args=[battle_id],
            queue=settings.DRAWINGS_QUEUE,
            priority=LATER,
            retry=False,
            ignore_result=True,
        )
    except NOT_SENT as error:
        log.warning("The pictures of %s are not asked for yet: %r", battle_id, error)


def preview_look(kind: Kind, entry: GalleryEntry) -> str:
    """The look of a preview, which shows the kind's pictures and the instruction: a preview of other words is over."""
    return f"{kind.look} {PREVIEW_LOOK} {crc32(entry.instruction.encode()):08x}"
