"""Reading what clients send. Every field is checked here, so that actions get clean values only."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from django.conf import settings
from rest_framework import serializers

from arena import starts
from arena.errors import (
    InstructionTooLong,
    InvalidInstruction,
    InvalidReasons,
    InvalidStarts,
    InvalidVote,
    UnknownName,
)
from arena.models import REASONS, Judgement, StartKind, VoteChoice
from simulation import catalogue

PUBLIC_ID = re.compile(r"(sess|battle|turn|ep|vote)_[0-9a-f]{32}\Z")
# Control and invisible characters, surrogates, private-use and unassigned code points, line ends.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = {"\u200c", "\u200d"}  # invisible too, but some scripts and emoji cannot be written without them


class AnythingField(serializers.Field[Any, Any, Any, Any]):
    """Whatever JSON was sent; what is wrong with it is said in the arena's own words."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class SceneChoiceSerializer(serializers.Serializer[Any]):
    robot_id = AnythingField(default=settings.DEFAULT_ROBOT)
    scene_id = AnythingField(default=settings.DEFAULT_SCENE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        known_robots = {robot.id: robot for robot in catalogue.robots()}
        robot = known_robots.get(_word(attrs["robot_id"]))
        if robot is None:
            raise UnknownName("robot", known_robots)
        if _word(attrs["scene_id"]) not in robot.scenes:
            raise UnknownName("scene", robot.scenes)
        return attrs


class TurnSerializer(serializers.Serializer[Any]):
    instruction = AnythingField(default="")
    start = serializers.ChoiceField(choices=StartKind.choices, default=StartKind.CONTINUE)
    starts = AnythingField(default=starts.ONE)

    def validate_instruction(self, value: Any) -> str:
        return clean_instruction(value)

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
        return _word(value)

    def validate_vote(self, value: Any) -> VoteChoice:
        if value not in VoteChoice.values:
            known = ", ".join(VoteChoice.values)
            raise InvalidVote(f"A vote is one of {known}.", known=VoteChoice.values)
        return VoteChoice(value)

    def validate_reasons(self, value: Any) -> dict[str, Judgement]:
        wrong = f"Reasons say for some of {', '.join(REASONS)} which side was better: {', '.join(Judgement.values)}."
        if value is None:
            return {}
        if not isinstance(value, dict) or not set(value) <= set(REASONS):
            raise InvalidReasons(wrong, known=list(REASONS))
        said = {name: judgement for name, judgement in value.items() if judgement is not None}
        if any(judgement not in Judgement.values for judgement in said.values()):
            raise InvalidReasons(wrong, known=Judgement.values)
        return {name: Judgement(judgement) for name, judgement in said.items()}


class ExplorationSerializer(serializers.Serializer[Any]):
    instruction = AnythingField(default=None, allow_null=True)
    turn_id = AnythingField(default=None, allow_null=True)
    record = serializers.IntegerField(default=0, min_value=0, max_value=1_000_000)
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=2**31 - 1)

    def validate_instruction(self, value: Any) -> str | None:
        return None if value is None else clean_instruction(value)

    def validate_turn_id(self, value: Any) -> str | None:
        return None if value is None else _word(value)


class SessionChoiceSerializer(serializers.Serializer[Any]):
    session_id = AnythingField()

    def validate_session_id(self, value: Any) -> str:
        return _word(value)


def clean_instruction(value: Any) -> str:
    """The sentence without blanks around it; raises InvalidInstruction for what no policy could be told."""
    longest = settings.INSTRUCTION_MAX_LENGTH
    if not isinstance(value, str):
        raise InvalidInstruction("An instruction is a text.")
    text = value.strip()
    if not text:
        raise InvalidInstruction("An instruction needs words.")
    if len(text) > longest:
        raise InstructionTooLong(longest, len(text))
    if any(unicodedata.category(character) in UNPRINTABLE and character not in JOINERS for character in text):
        raise InvalidInstruction("An instruction is one line of printable characters.")
    if not any(unicodedata.category(character)[0] in "LNS" for character in text):
        raise InvalidInstruction("An instruction needs words.")
    return text


def is_public_id(value: str) -> bool:
    """Whether this can be an id of ours; anything else need not reach the database."""
    return PUBLIC_ID.match(value) is not None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""
