"""Signals to other packages. A receiver runs inside the sender's transaction, and rolls it back if it raises."""

from __future__ import annotations

from typing import Any

from django.dispatch import Signal
from django.utils.module_loading import import_string

vote_cast = Signal()
"""A vote was stored. Sent with `vote: arena.models.Vote`, before the transaction is committed."""

words_changed = Signal()
"""Instructions were hidden, shown again or removed. Sent with `battle_ids: list[str]`, before the transaction is
committed."""

moderated = Signal()
"""Staff acted on a row. Sent with `action: str` (a word of `arena.audit.Act`), `subject: str` (what it was done to),
`reason: str` and `moderator: User`, before the transaction is committed."""


def connect(signal: Signal, receiver: str) -> None:
    """`receiver`: the dotted path of a function, which is imported at the first signal. Most processes send none."""

    def receive(**told: Any) -> None:
        import_string(receiver)(**told)

    signal.connect(receive, weak=False, dispatch_uid=receiver)
