"""How often the judge by a language model prefers the agent that visitors prefer."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from arena.models import Purpose, Side, Vote, VoteChoice
from arena.shapes import JudgeAgreement
from voice.evaluation.agreement import LEFT, NEITHER, RIGHT, agreement, preferred
from voice.models import VOICE, Conversation

PEOPLE = {VoteChoice.LEFT_BETTER: LEFT, VoteChoice.RIGHT_BETTER: RIGHT}


def judge_agreement() -> JudgeAgreement:
    """Over the battles that count and of which both calls were judged."""
    found = agreement(pairs())
    if found is not None:
        return {**found._asdict(), "missing": ""}  # type: ignore[typeddict-item] # its fields are those of the tuple
    missing = "no_battles" if settings.VOICE["judge_url"] else "no_judge"
    return {"battles": 0, "share": None, "low": None, "high": None, "kappa": None, "missing": missing}


def pairs() -> list[tuple[str, str]]:
    """Of each such battle: what its visitor and what the judge preferred."""
    votes = Vote.objects.filter(kind=VOICE, purpose=Purpose.RANK, battle__spoiled=False, counted_vote__counted=True)
    choices = {str(battle_id): choice for battle_id, choice in votes.values_list("battle_id", "vote")}
    verdicts: dict[str, dict[str, Any]] = {}
    judged = Conversation.objects.filter(call__battle_id__in=choices).exclude(judge=None)
    for battle_id, side, verdict in judged.values_list("call__battle_id", "call__side", "judge"):
        verdicts.setdefault(str(battle_id), {})[side] = verdict
    return [
        (PEOPLE.get(VoteChoice(choices[battle_id]), NEITHER), preferred(sides[Side.LEFT], sides[Side.RIGHT]))
        for battle_id, sides in sorted(verdicts.items())
        if len(sides) == len(Side)
    ]
