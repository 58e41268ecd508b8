"""Calibration battles of text: a *repeat* asks the pair of an earlier battle of the same voter the same prompt again,
with the sides swapped. It shows how consistent a voter is, and whether a side is favoured.

An earlier answer would be recognised, so both models write new ones: between equals each is as likely to please as the
other, and any preference makes the same one likelier (`rankings.trust.reliability`). A battle becomes a repeat with
its first prompt, if the pair that was drawn shares a contestant with the earlier one; visitors never learn it. Like
every calibration battle it counts in no board (decision: doubtful-votes).
"""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db.models import Exists, FilteredRelation, OuterRef, Q, QuerySet

from arena.kinds import CalibrationBattle
from arena.models import Battle, BattleStatus, Purpose, Turn
from arena.queue.hosting import Hosts

REMEMBERED = 100
"""Of how many of a visitor's last votes the share of repeats is counted."""
GAP = 3
"""So many of the last votes are not repeated: the voter may remember the answers."""
MOST_REPEATED = 0.5
"""The largest chance that a prompt said again becomes a repeat, so that saying it again tells nothing."""
_random = secrets.SystemRandom()


def maybe_repeat(battle: Battle, prompt: str, hosts: Hosts) -> CalibrationBattle | None:
    """The repeat that this battle becomes with its first prompt, or None. One query, for a prompt said before two."""
    earlier = _said_before(battle, prompt)
    repeat = CalibrationBattle.repeat(earlier, battle, hosts, start=battle) if earlier else None
    return repeat if repeat and _due(battle, earlier) else None


def _voted(battle: Battle) -> QuerySet[Battle]:
    """The visitor's voted battles in this place, newest first."""
    session = battle.session
    return Battle.objects.filter(
        session__user_id=session.user_id,
        session__kind=session.kind,
        session__setting=session.setting,
        session__scene=session.scene,
        status=BattleStatus.VOTED,
    ).order_by("-pk")


def _said_before(battle: Battle, prompt: str) -> Any | None:
    """The row of the visitor's first ranking battle of this prompt alone, which was not repeated yet."""
    if battle.session.user_id is None:
        return None
    repeated = Battle.objects.filter(repeats_id=OuterRef("battle_id"))
    followed = Turn.objects.filter(battle_id=OuterRef("battle_id"), seq__gt=1)
    first = FilteredRelation("turns", condition=Q(turns__seq=1))
    asked = _voted(battle).filter(purpose=Purpose.RANK, spoiled=False).annotate(first=first)
    alike = asked.filter(~Exists(repeated), ~Exists(followed), first__instruction=prompt)
    return alike.order_by("pk").values_list("battle_id", "left_model_id", "right_model_id", named=True).first()


def _due(battle: Battle, earlier: Any) -> bool:
    """Whether a repeat is missing from the wanted share of the visitor's votes, and the earlier battle is long ago."""
    past = list(_voted(battle).values_list("battle_id", "purpose")[:REMEMBERED])
    if earlier.battle_id in [battle_id for battle_id, _ in past[:GAP]]:
        return False
    repeats = sum(purpose == Purpose.REPEAT for _, purpose in past)
    missing = settings.REPEAT_SHARE * (1 + len(past)) - repeats
    return _random.random() < min(missing, MOST_REPEATED)
