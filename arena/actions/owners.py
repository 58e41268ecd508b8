"""Giving a visitor's sessions to another visitor, and taking them from everybody."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction
from django.db.models import F

from arena import kinds
from arena.actions.announce import lock_battle
from arena.actions.sessions import abandon
from arena.drawings.store import get_drawings
from arena.errors import TurnRunning
from arena.ids import new_id
from arena.models import Battle, BattleStatus, Session, Turn, Vote
from arena.signals import words_changed
from arena.store import EpisodeStore, get_store

REMOVED = "(removed)"
"""Instead of an instruction in somebody's own words."""


def move_sessions(visitor: str, to: str) -> int:
    """Make all sessions of one visitor another's. Answers how many there were. Votes are the rankings' to move."""
    return Session.objects.filter(user_id=visitor).update(user_id=to)


def forget_sessions(visitor: str, pseudonym: str) -> None:
    """Detach all sessions of a visitor: they get new ids and the `pseudonym`, their open battles are closed, and what
    the visitor wrote in own words is removed. Sentences of the catalogue stay, since boards by task rest on them.

    The episode store is changed before the commit: if it cannot be reached, nothing is forgotten. Raises TurnRunning
    while a turn is played or waits, since its recording is not stored yet, and StoreUnavailable.
    """
    with transaction.atomic():
        own = Session.objects.filter(user_id=visitor)
        own.update(last_active_at=F("last_active_at"))  # locks the rows: a turn sent meanwhile waits, and is refused
        if Turn.objects.filter(session__user_id=visitor).unsettled().exists():
            raise TurnRunning
        for battle_id in Battle.objects.filter(session__in=own, status=BattleStatus.ONGOING).values_list("battle_id"):
            abandon(lock_battle(*battle_id))
        store = get_store()
        for session in own.order_by("pk"):
            _remove_words(session, store)
            _rename(session, store, pseudonym)


def _remove_words(session: Session, store: EpisodeStore) -> None:
    turns = Turn.objects.filter(session=session).exclude(instruction=REMOVED)
    kind, said = kinds.of(session), turns.values_list("turn_id", "instruction")
    own = [turn_id for turn_id, text in said if kind.is_own_words(text, session.scene)]
    store.remove_words(own, REMOVED)
    removed = turns.filter(turn_id__in=own)
    battles = list(removed.values_list("battle__battle_id", flat=True).distinct().order_by())
    removed.update(instruction=REMOVED)
    words_changed.send(Turn, battle_ids=battles)
    get_drawings().delete(battles)


def _rename(session: Session, store: EpisodeStore, pseudonym: str) -> None:
    old, new = session.session_id, new_id("sess")
    battles: Iterable[str] = session.battles.values_list("battle_id", flat=True)
    store.rename_session(list(battles), old, new)
    Session.objects.filter(pk=session.pk).update(session_id=new, user_id=pseudonym)  # keys are checked at the commit
    for rows in (Battle.objects, Turn.objects, Vote.objects):
        rows.filter(session_id=old).update(session_id=new)
    Turn.objects.filter(session_id=new).update(request_id="")
