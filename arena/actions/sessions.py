"""Opening a session, and its battles."""

from __future__ import annotations

import secrets

from django.db import transaction

from arena import kinds
from arena.actions.announce import announce, take_back_end, touch_session
from arena.actions.attempts import announce_end, end_cancelled
from arena.errors import SceneWithdrawn
from arena.kinds import Kind, Place, place_of
from arena.models import AttemptStatus, Battle, BattleStatus, Compiled, Session
from arena.pairing import draw_pair, written_chances
from arena.queue import hosting
from arena.rules import allowed_actions

SEEDS = 2**31
_ongoing = Compiled(
    lambda session_id: (
        Battle.objects.filter(session_id=session_id, status=BattleStatus.ONGOING)
        .select_for_update(of=("self",))
        .order_by("pk")
    )
)


def open_session(kind: Kind, place: Place, visitor: str) -> Battle:
    """The first battle of a new session. Raises NoContestants."""
    with transaction.atomic():
        session = Session.objects.create(kind=kind.id, setting=place.setting, scene=place.scene, user_id=visitor)
        return _open_battle(session, 1)


def open_next_battle(session: Session) -> Battle:
    """The session's next battle, with a new pair. An ongoing battle is abandoned. Raises NoContestants, and
    SceneWithdrawn where operators no longer offer the session's place."""
    places = kinds.of(session).places()
    if session.scene not in places.get(session.setting, ()):
        raise SceneWithdrawn({scene for scenes in places.values() for scene in scenes})
    with transaction.atomic():
        touch_session(session.session_id)
        last = 0  # an ongoing battle is its session's last
        for battle in _ongoing(session.session_id):
            battle.session = session
            abandon(battle)
            last = battle.seq_in_session
        return _open_battle(session, 1 + (last or session.battles.count()))


def _open_battle(session: Session, seq: int) -> Battle:
    kind, place = kinds.of(session), place_of(session)
    eligible = list(kind.eligible(place).filter(kind=kind.id).only("kind", "pairing_weight"))
    chances = written_chances(kind.pool(place))
    if kind.played_here:
        left, right = draw_pair(eligible, chances)
    else:
        hosts = hosting.hosts()
        unhosted = hosts.unhosted(each.id for each in eligible)
        left, right = draw_pair([each for each in eligible if each.id not in unhosted], chances, hosts.can_meet)
    again, fresh = kind.seed_shown_again(session), secrets.randbelow(SEEDS)
    seed = fresh if again is None else again
    return Battle.objects.create(session=session, seq_in_session=seq, left_model=left, right_model=right, seed=seed)


def abandon(battle: Battle) -> None:
    """Close an ongoing battle to turns and votes. The caller holds its lock.

    A running turn is played to its end. Starts that wait for it are not played.
    """
    if battle.status != BattleStatus.ONGOING:  # a vote came first
        return
    turns = battle.turns_with_sides()
    unshown = take_back_end(battle, turns)
    battle.status = BattleStatus.ABANDONED  # saved with the number of the event
    allowed = allowed_actions(battle, [])  # nothing is allowed, whatever its turns
    announce(battle, "battle.abandoned", instead=unshown is not None, battle=allowed)
    for turn in turns:
        if turn.start_seed is not None and all(side.status == AttemptStatus.HELD for side in turn.attempts.all()):
            end_cancelled(battle, turn, turns)
    if unshown is not None:
        announce_end(battle, unshown, turns)
