"""Casting the vote that ends a battle and reveals its contestants."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.db import transaction
from django.utils import timezone

from arena import kinds
from arena.actions.announce import announce, lock_battle, to_be_locked, touch_session
from arena.errors import AlreadyVoted, ArenaError, BattleClosed, MixedKinds, NoCompletedTurn, StartsMissing, TurnRunning
from arena.metrics import VOTES
from arena.models import Battle, BattleStatus, Compiled, Judgement, Turn, Vote, VoteChoice
from arena.rules import allowed_actions, turn_status
from arena.selectors import introduced, shown_secret, starts_json, turn_json, vote_json
from arena.signals import vote_cast
from arena.visitors.networks import NO_DIGESTS, CallerDigests

REFUSALS: dict[str, type[ArenaError]] = {
    error.code: error for error in (AlreadyVoted, BattleClosed, TurnRunning, NoCompletedTurn, StartsMissing)
}


def cast_vote(
    battle: Battle,
    choice: VoteChoice,
    reasons: Mapping[str, Judgement] | None = None,
    origin: CallerDigests = NO_DIGESTS,
) -> Vote:
    """Store a battle's only vote. `reasons`: respect of the kind -> the side that was better in it.

    Raises MixedKinds, AlreadyVoted, BattleClosed, TurnRunning, NoCompletedTurn or StartsMissing.
    """
    with transaction.atomic():
        touch_session(battle.session_id)
        locked = lock_battle(battle.battle_id, _to_be_revealed(battle.session.kind))
        turns = locked.turns_with_sides()
        locked.cache_turns(turns)
        if locked.mixes_kinds:
            raise MixedKinds
        blocked = allowed_actions(locked, turns)["vote_blocked_because"]
        if blocked is not None:
            raise REFUSALS[blocked]
        session = locked.session
        vote = Vote.objects.create(
            battle=locked,
            session=session,
            user_id=session.user_id,
            kind=session.kind,
            setting=session.setting,
            scene=session.scene,
            left_model_id=locked.left_model_id,
            right_model_id=locked.right_model_id,
            vote=choice,
            purpose=locked.purpose,
            dwell_ms=_dwell_ms(turns),
            address=origin.address,
            network=origin.network,
            reasons={name: str(judgement) for name, judgement in (reasons or {}).items()},
        )
        transaction.on_commit(VOTES.labels(str(choice)).inc)
        locked.status = BattleStatus.VOTED  # saved with the number of the event
        announce(
            locked,
            "battle.voted",
            vote=vote_json(vote, session.kind),
            **introduced(locked),
            secret=shown_secret(locked),
            turns=[turn_json(turn, show_outcome=True) for turn in turns],
            starts=starts_json(locked, turns),
            battle=allowed_actions(locked, turns),
        )
        vote_cast.send(sender=Vote, vote=vote)  # last, because it takes a lock that all voters wait for
        return vote


@cache
def _to_be_revealed(kind: str) -> Compiled[Battle]:
    return to_be_locked(Battle.objects.to_be_revealed(kinds.get(kind).introduced_with))


def _dwell_ms(turns: list[Turn]) -> int | None:
    """Milliseconds since the end of the last completed turn was shown."""
    ended = [turn.shown_at or turn.settled_at for turn in turns if turn_status(turn) == "completed"]
    moments = [moment for moment in ended if moment is not None]
    return max(0, round(1000 * (timezone.now() - max(moments)).total_seconds())) if moments else None
