"""What language models answered a visitor."""

from __future__ import annotations

from collections.abc import Iterator

from arena.models import Attempt, AttemptStatus
from arena.store import get_store
from people.own_data import Owner, Part, Row
from texts.models import TEXT


def export_answers(owner: Owner) -> Iterator[Row]:
    """The words were on the visitor's screen, also before the vote. They come without a name."""
    if not owner.visitor:
        return
    own = Attempt.objects.filter(turn__session__user_id=owner.visitor, turn__session__kind=TEXT)
    completed = own.filter(status=AttemptStatus.COMPLETED, turn__settled_at__isnull=False).order_by("turn_id", "side")
    for attempt in completed.values("episode_id", "turn_id", "side").iterator():
        document = get_store().get(attempt["episode_id"])
        yield {"turn_id": attempt["turn_id"], "side": attempt["side"], "text": document["text"] if document else None}


def forget_answers(owner: Owner, pseudonym: str) -> None:
    """Nothing more: they go with the words of the prompts, which they may repeat (`arena.actions.owners`)."""


PARTS = (Part("answers", export_answers, forget_answers),)
