"""Opening a session, and its battles."""

from __future__ import annotations

import secrets

from django.db import transaction

from arena import kinds
from arena.actions.announce import announce, take_back_end, touch_session
from arena.actions.attempts import end_cancelled, tell_end
from arena.kinds import Kind, Place, place_of
from arena.models import AttemptStatus, Battle, BattleStatus, Session
from arena.pairing import draw_pair, written_chances
from arena.queue import hosting
from arena.rules import allowed_actions

SEEDS = 2**31


def open_session(kind: Kind, place: Place, visitor: str) -> Battle:
    """A new session with its first battle; raises NoContestants."""
    with transaction.atomic():
        session = Session.objects.create(kind=kind.id, setting=place.setting, scene=place.scene, user_id=visitor)
        return _open_battle(session, 1)


def open_next_battle(session: Session) -> Battle:
    """The session's next battle, with a new pair. An ongoing one without a vote is abandoned; raises NoContestants."""
    with transaction.atomic():
        touch_session(session.session_id)
        ongoing = session.battles.filter(status=BattleStatus.ONGOING).order_by("pk")
        last = 0  # an ongoing battle is its session's last
        for battle in ongoing.select_for_update(of=("self",)):
            abandon(battle)
            last = battle.seq_in_session
        return _open_battle(session, 1 + (last or session.battles.count()))


def _open_battle(session: Session, seq: int) -> Battle:
    kind, place = kinds.of(session), place_of(session)
    eligible = kind.eligible(place).filter(kind=kind.id).only("pairing_weight")
    chances = written_chances(kind.pool(place))
    if kind.played_here:
        left, right = draw_pair(list(eligible), chances)
    else:
        left, right = draw_pair(list(eligible.playable()), chances, hosting.hosts().can_meet)
    return Battle.objects.create(
        session=session,
        seq_in_session=seq,
        left_model=left,
        right_model=right,
        seed=secrets.randbelow(SEEDS),
    )


def abandon(battle: Battle) -> None:
    """Close a battle to turns and votes, unless it is closed already. The caller holds its lock.

    What is being played is played to its end; starts that wait for it are not played at all.
    """
    if battle.status != BattleStatus.ONGOING:  # a vote came first
        return
    turns = battle.turns_with_sides()
    unheard = take_back_end(battle, turns)
    battle.status = BattleStatus.ABANDONED  # saved with the number of the event
    told = allowed_actions(battle, [])  # none, whatever its turns
    announce(battle, "battle.abandoned", instead=unheard is not None, battle=told)
    for turn in turns:
        if turn.start_seed is not None and all(side.status == AttemptStatus.HELD for side in turn.attempts.all()):
            end_cancelled(battle, turn, turns)
    if unheard is not None:
        tell_end(battle, unheard, turns)
