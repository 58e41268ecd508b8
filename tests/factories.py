"""Rows for tests. A battle comes with its session and two contestants, a turn with both its rollouts."""

from __future__ import annotations

import uuid
from typing import Any

import factory
from django.utils import timezone
from factory.django import DjangoModelFactory

from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Session, Side, Turn, Vote, VoteChoice
from policies.models import Policy
from texts.models import LanguageModel


class PolicyFactory(DjangoModelFactory[Policy]):
    class Meta:
        model = Policy

    id = factory.Sequence(lambda number: f"policy-{number}")
    name = factory.LazyAttribute(lambda policy: policy.id.replace("-", " ").title())
    organization = "VLA Arena"
    license = "Apache-2.0"
    family = "film"
    adapter = "film"
    provenance = "Trained for a test"
    revision = factory.Sequence(lambda number: f"{number:064x}")


class TextModelFactory(DjangoModelFactory[LanguageModel]):
    class Meta:
        model = LanguageModel

    id = factory.Sequence(lambda number: f"text-model-{number}")
    name = factory.LazyAttribute(lambda model: model.id.replace("-", " ").title())
    family = "scripted"
    base_url = "http://127.0.0.1:9/v1"
    served_name = "quick"


class ReferenceFactory(PolicyFactory):
    id = factory.Sequence(lambda number: f"reference-{number}")
    family = "reference"
    adapter = "still"
    reference = True


class SessionFactory(DjangoModelFactory[Session]):
    class Meta:
        model = Session

    kind = "robots"
    setting = "widowx"
    scene = "table"
    user_id = factory.LazyFunction(lambda: str(uuid.uuid4()))


class BattleFactory(DjangoModelFactory[Battle]):
    class Meta:
        model = Battle

    session = factory.SubFactory(SessionFactory)
    seq_in_session = factory.LazyAttribute(lambda battle: battle.session.battles.count() + 1)
    left_model = factory.SubFactory(PolicyFactory)
    right_model = factory.SubFactory(PolicyFactory)
    seed = factory.Sequence(lambda number: number)


class TurnFactory(DjangoModelFactory[Turn]):
    """`TurnFactory(completed=True)` is one that both sides have played."""

    class Meta:
        model = Turn
        skip_postgeneration_save = True

    class Params:
        completed = factory.Trait(settled_at=factory.LazyFunction(timezone.now))

    battle = factory.SubFactory(BattleFactory)
    session = factory.SelfAttribute("battle.session")
    battle_seq_in_session = factory.SelfAttribute("battle.seq_in_session")
    seq = factory.LazyAttribute(lambda turn: turn.battle.turns.count() + 1)
    instruction = "put the red cube on the left plate"

    @factory.post_generation
    def attempts(self: Turn, create: bool, extracted: Any, **columns: Any) -> None:
        settled: dict[str, Any] = {}
        if self.settled_at:
            settled = {
                "status": AttemptStatus.COMPLETED,
                "tries": 1,
                "started_at": self.created_at,
                "finished_at": self.settled_at,
                "length": 50,
                "success": False,
                "progress": 0.5,
                "termination_reason": "step_limit",
                "duration_ms": 700.0,
            }
        for side, policy in ((Side.LEFT, self.battle.left_model), (Side.RIGHT, self.battle.right_model)):
            AttemptFactory(turn=self, side=side, model=policy, **{**settled, **columns})


class AttemptFactory(DjangoModelFactory[Attempt]):
    class Meta:
        model = Attempt

    sent_at = factory.LazyFunction(timezone.now)


class VoteFactory(DjangoModelFactory[Vote]):
    """A vote on a battle of its own, with one completed turn; the battle is marked as voted."""

    class Meta:
        model = Vote
        skip_postgeneration_save = True

    battle = factory.SubFactory(BattleFactory, status=BattleStatus.VOTED)
    session = factory.SelfAttribute("battle.session")
    user_id = factory.SelfAttribute("battle.session.user_id")
    kind = factory.SelfAttribute("battle.session.kind")
    setting = factory.SelfAttribute("battle.session.setting")
    scene = factory.SelfAttribute("battle.session.scene")
    left_model = factory.SelfAttribute("battle.left_model")
    right_model = factory.SelfAttribute("battle.right_model")
    vote = VoteChoice.LEFT_BETTER

    @factory.post_generation
    def turn(self: Vote, create: bool, extracted: Any, **columns: Any) -> None:
        if create:
            TurnFactory(battle=self.battle, completed=True)
