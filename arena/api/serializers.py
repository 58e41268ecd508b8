"""Reading what clients send. Every field is checked here, so that actions get clean values only."""

from __future__ import annotations

import re
from typing import Any

from rest_framework import serializers

from arena import kinds, starts
from arena.errors import (
    InvalidReasons,
    InvalidStarts,
    InvalidVote,
)
from arena.kinds import Kind
from arena.models import Judgement, StartKind, VoteChoice

PUBLIC_ID = re.compile(r"(sess|battle|turn|ep|vote)_[0-9a-f]{32}\Z")


class AnythingField(serializers.Field[Any, Any, Any, Any]):
    """Whatever JSON was sent; what is wrong with it is said in the arena's own words."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class TurnSerializer(serializers.Serializer[Any]):
    instruction = AnythingField(default="")
    start = serializers.ChoiceField(choices=StartKind.choices, default=StartKind.CONTINUE)
    starts = AnythingField(default=starts.ONE)

    def validate_starts(self, value: Any) -> int:
        if type(value) is not int or value not in starts.CHOICES:
            known = list(starts.CHOICES)
            told = " or ".join(map(str, known))
            raise InvalidStarts(f"A battle is shown from {told} starts.", known=known)
        return value


class VoteSerializer(serializers.Serializer[Any]):
    battle_id = AnythingField()
    vote = AnythingField(default=None)
    reasons = AnythingField(default=None, allow_null=True)

    def validate_battle_id(self, value: Any) -> str:
        return word(value)

    def validate_vote(self, value: Any) -> VoteChoice:
        if value not in VoteChoice.values:
            known = ", ".join(VoteChoice.values)
            raise InvalidVote(f"A vote is one of {known}.", known=VoteChoice.values)
        return VoteChoice(value)


class SessionChoiceSerializer(serializers.Serializer[Any]):
    session_id = AnythingField()

    def validate_session_id(self, value: Any) -> str:
        return word(value)


def chosen_kind(data: Any) -> Kind:
    """The kind that a body names; without a name, the default. Raises UnknownName."""
    if "kind" not in data:
        return kinds.default()
    return kinds.get(word(data["kind"]))


def clean_reasons(value: Any, kind: Kind) -> dict[str, Judgement]:
    """Respect -> which side was better in it. Raises InvalidReasons for what the kind knows no respect of."""
    known = list(kind.reasons)
    wrong = f"Reasons say for some of {', '.join(known)} which side was better: {', '.join(Judgement.values)}."
    if value is None:
        return {}
    if not isinstance(value, dict) or not set(value) <= set(known):
        raise InvalidReasons(wrong, known=known)
    said = {name: judgement for name, judgement in value.items() if judgement is not None}
    if any(judgement not in Judgement.values for judgement in said.values()):
        raise InvalidReasons(wrong, known=Judgement.values)
    return {name: Judgement(judgement) for name, judgement in said.items()}


def is_public_id(value: str) -> bool:
    """Whether this can be an id of ours; anything else need not reach the database."""
    return PUBLIC_ID.match(value) is not None


def word(value: Any) -> str:
    return value if isinstance(value, str) else ""
