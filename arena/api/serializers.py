"""Checks the fields of request bodies, so that actions get clean values only."""

from __future__ import annotations

import re
from typing import Any

from rest_framework import serializers

from arena import kinds, starts
from arena.actions.feedback import Said
from arena.errors import InvalidProgress, InvalidReasons, InvalidStarts, InvalidVote, NotFound, UnknownName
from arena.instructions import clean_why
from arena.kinds import Kind
from arena.models import WHOLE_WAY, Judgement, Side, StartKind, VoteChoice

PUBLIC_ID = re.compile(r"(sess|battle|turn|ep|vote|study)_[0-9a-f]{32}\Z")


def is_public_id(value: str) -> bool:
    """Whether this may be an id of ours. If not, the database need not be asked."""
    return PUBLIC_ID.match(value) is not None


def public_id(value: Any) -> str:
    """The value, if it may be an id of ours. Raises NotFound."""
    if not isinstance(value, str) or not is_public_id(value):
        raise NotFound
    return value


class AnyJsonField(serializers.Field[Any, Any, Any, Any]):
    """Any JSON value. Its check raises an error of the arena instead of a field error."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class PublicIdField(AnyJsonField):
    def to_internal_value(self, data: Any) -> str:
        return public_id(data)


class TurnSerializer(serializers.Serializer[Any]):
    instruction = AnyJsonField(default="")
    start = serializers.ChoiceField(choices=StartKind.choices, default=StartKind.CONTINUE)
    starts = AnyJsonField(default=starts.ONE)

    def validate_starts(self, value: Any) -> int:
        if type(value) is not int or value not in starts.CHOICES:
            known = list(starts.CHOICES)
            raise InvalidStarts(f"A battle is shown from {' or '.join(map(str, known))} starts.", known=known)
        return value


class VoteSerializer(serializers.Serializer[Any]):
    vote = AnyJsonField(default=None)
    reasons = AnyJsonField(default=None, allow_null=True)
    battle_id = PublicIdField()  # the last one: an invalid vote is the first error to answer

    def validate_vote(self, value: Any) -> VoteChoice:
        if value not in VoteChoice.values:
            known = ", ".join(VoteChoice.values)
            raise InvalidVote(f"A vote is one of {known}.", known=VoteChoice.values)
        return VoteChoice(value)


class SessionChoiceSerializer(serializers.Serializer[Any]):
    session_id = PublicIdField()


def chosen_kind(data: Any) -> Kind:
    """The kind that a body names, or the default one. Raises UnknownName."""
    if "kind" not in data:
        return kinds.default()
    return kinds.get_offered(data["kind"] if isinstance(data["kind"], str) else "")


def clean_reasons(value: Any, kind: Kind) -> dict[str, Judgement]:
    """Respect -> which side was better in it. Raises InvalidReasons, also for a respect that the kind does not have."""
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


FEEDBACK = ("reasons", "why", "progress")


def clean_feedback(data: Any, kind: Kind) -> Said:
    """The body of feedback. What it leaves out is empty. Raises UnknownName, InvalidReasons, InvalidWhy or
    InvalidProgress."""
    if not set(data) <= set(FEEDBACK):
        raise UnknownName("field", FEEDBACK)
    why, (left, right) = data.get("why"), _clean_progress(data.get("progress"))
    return Said(clean_reasons(data.get("reasons"), kind), "" if why is None else clean_why(why), left, right)


def _clean_progress(value: Any) -> tuple[int | None, int | None]:
    """How far the left and the right side came, null for a side that was not judged. Raises InvalidProgress."""
    said = {} if value is None else value
    if not isinstance(said, dict) or not set(said) <= set(Side.values) or not all(map(_is_share, said.values())):
        raise InvalidProgress(
            f"Progress says for left and right how much of the task was done: a whole number from 0 to {WHOLE_WAY}, "
            "or null.",
            known=Side.values,
        )
    return said.get(Side.LEFT), said.get(Side.RIGHT)


def _is_share(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value <= WHOLE_WAY)
