"""Voted battles with real recordings, published, and the arena's own key."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from arena.models import Attempt, Battle, Vote
from arena.store import get_store
from policies.models import Policy
from rankings.publication import aggregation
from simulation.cameras import render_profile
from simulation.contracts import Actor
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import HoldStill, ScriptedExpert
from simulation.recorder import Recorder
from simulation.runner import run_episode
from tests.factories import BattleFactory, PolicyFactory, SessionFactory, VoteFactory

STACK = "stack the red cube on the yellow cube"
PLACE = "put the red cube on the left plate"
Fight = Callable[..., Battle]


@pytest.fixture(autouse=True)
def _own_key(settings: Any) -> None:
    settings.SECRET_KEY = "a secret of this arena and of no other"


@cache
def _world() -> Environment:
    return Environment("widowx", "table")


@cache
def _played(model_id: str, instruction: str, seed: int) -> dict[str, Any]:
    """A recording in real physics from the seed's first state, without its identity."""
    world, recorder = _world(), Recorder()
    world.reset(seed)
    policy: Actor = ScriptedExpert(world) if model_id == "expert" else HoldStill(world)
    run_episode(world, policy, instruction, 0, [recorder])
    return build_document({}, recorder.recording, world, render_profile())


def record(attempt: Attempt, seed: int) -> None:
    """Keep an attempt's recording and outcome."""
    turn, played = attempt.turn, copy.deepcopy(_played(attempt.model_id, attempt.turn.instruction, seed))
    identity = {
        "_id": attempt.episode_id,
        "attempt": 1,
        "session_id": turn.session_id,
        "battle_id": turn.battle_id,
        "battle_seq_in_session": turn.battle_seq_in_session,
        "turn_id": turn.turn_id,
        "turn_seq": turn.seq,
        "side": attempt.side,
        "model_id": attempt.model_id,
        "policy_revision": attempt.model.revision,
        "instruction": turn.instruction,
        "robot_id": "widowx",
        "scene_id": "table",
        "seed": seed,
        "secret": "",
        "exploration": turn.is_fork,
        "created_at": turn.created_at,
    }
    get_store().save(identity | played)
    Attempt.objects.filter(pk=attempt.pk).update(
        success=played["success"], progress=played["progress"], length=len(played["actions"])
    )


@pytest.fixture
def fight(db: None) -> Fight:
    """A voted battle of the expert against the one that holds still: `fight(vote=..., instruction=..., voter=...)`."""
    for name in ("expert", "still"):
        PolicyFactory(id=name, adapter=name)

    def play(instruction: str = STACK, vote: str = "left_better", voter: str = "anna", seed: int = 7) -> Battle:
        session = SessionFactory(user_id=voter)
        policies = {"left_model": Policy.objects.get(pk="expert"), "right_model": Policy.objects.get(pk="still")}
        battle = BattleFactory(session=session, seed=seed, status="voted", **policies)
        VoteFactory(battle=battle, vote=vote, user_id=voter)
        turn = battle.turns.get()
        turn.instruction = instruction
        turn.save()
        for attempt in turn.attempts.select_related("model", "turn"):
            record(attempt, seed)
        return Battle.objects.get(pk=battle.pk)

    return play


@pytest.fixture
def published(fight: Fight) -> list[Battle]:
    """Three battles by two voters, counted in a publication."""
    battles = [fight(), fight(PLACE, "tie", "anna", 8), fight(STACK, "both_bad", "bert", 9)]
    aggregation.aggregate()
    assert not Vote.objects.exclude(processing_status="processed").exists()
    return battles
