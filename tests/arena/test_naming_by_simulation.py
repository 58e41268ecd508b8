"""Who takes what can be fetched, restores it and runs the shipped networks learns exact actions with the vote alone.

In the first release a network run once from the fetched start answered the fetched first action, to the last bit, and
so named its side.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from arena.models import Battle
from arena.store import get_store
from policies.models import Policy
from robots import play as episodes
from robots.runtime import WorkerRuntime
from simulation.contracts import ACTION_DIM, Floats, StartState
from simulation.variation import NO_VARIATION, Variation, chance_of, variation_of
from simulation.view_format import LENGTH_M
from tests.arena.conftest import Visitor, cast, play
from tests.replay_bin import rows_of_replay

INSTRUCTION = "put the red cube on the left plate"
CONTROL = 14  # of the WidowX
PAIR = {"left": "film-small", "right": "octo-mini"}
SECRET, SEED = "5ec7e7" * 5 + "00", 20
NQ, NV = 40, 36


@pytest.fixture(scope="module")
def real_runtime() -> WorkerRuntime:
    return WorkerRuntime()


@pytest.fixture
def live_runtime(
    real_runtime: WorkerRuntime, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[WorkerRuntime]:
    monkeypatch.setattr(episodes, "runtime", lambda: real_runtime)
    settings.ROLLOUT_MAX_STEPS = 4
    yield real_runtime
    for policy in Policy.objects.all():
        real_runtime.drop(policy)


@pytest.fixture
def played(transactional_db: None, live_runtime: WorkerRuntime) -> tuple[Visitor, str, dict[str, str]]:
    """A visitor, a battle that both shipped policies have played, and its episodes by side."""
    call_command("seed_policies", verbosity=0)
    visitor = Visitor()
    battle_id = visitor.open()
    Battle.objects.update(left_model=PAIR["left"], right_model=PAIR["right"], seed=SEED, secret=SECRET)
    turn = visitor.send(battle_id, INSTRUCTION)
    play(turn)
    return visitor, battle_id, {side: turn[f"{side}_episode_id"] for side in PAIR}


def first_action(runtime: WorkerRuntime, model_id: str, start: StartState, looks: Variation, chance: int) -> Floats:
    """What a network answers to what it sees in this state."""
    environment = runtime.environment("widowx", "table")
    environment.set_variation(looks)
    environment.restore(start)
    player = runtime.player(Policy.objects.get(pk=model_id), "widowx", "table")
    try:
        player.reset(INSTRUCTION, chance)
        actions: Floats = player.infer(environment.observe(INSTRUCTION, cameras=player.cameras))
    finally:
        player.close()
    return actions[0]


def state_of(told: dict[str, Any]) -> StartState:
    """A fetched state, as far as it is told."""
    velocities = np.array(told["qvel"] or np.zeros(NV))
    return StartState(told["time"], np.array(told["qpos"]), velocities, np.zeros(NV), np.zeros(CONTROL))


def test_what_is_fetched_before_the_vote_neither_holds_an_action_nor_leads_to_one(
    played: tuple[Visitor, str, dict[str, str]], live_runtime: WorkerRuntime
) -> None:
    visitor, _, sides = played
    for side, episode_id in sides.items():
        document = get_store().get(episode_id)
        assert document is not None
        fetched = visitor.get(f"episodes/{episode_id}").json()
        assert fetched["actions"] == []
        for name in ("states.bin", "replay.bin"):
            assert visitor.get(f"episodes/{episode_id}/{name}").status_code == 409
        off = np.abs(np.subtract(fetched["states"][0]["qpos"], document["states"][0]["qpos"]))
        assert LENGTH_M / 10 < off.max() < 0.001
        guess = first_action(live_runtime, PAIR[side], state_of(fetched["states"][0]), NO_VARIATION, SEED)
        assert np.abs(guess - document["actions"][0])[:6].max() > 2e-4, side


def test_with_the_vote_the_secret_and_the_exact_start_give_the_very_action(
    played: tuple[Visitor, str, dict[str, str]], live_runtime: WorkerRuntime
) -> None:
    visitor, battle_id, sides = played
    cast(visitor, battle_id)
    for side, episode_id in sides.items():
        fetched = visitor.get(f"episodes/{episode_id}").json()
        assert fetched["secret"] == SECRET
        row = rows_of_replay(visitor.get(f"episodes/{episode_id}/replay.bin").content)[0]
        cuts = np.cumsum([NQ, NV, NV, CONTROL, ACTION_DIM])
        qpos, qvel, warm, control, _, asleep = np.split(row[1:], cuts)
        state = StartState(row[0], qpos, qvel, warm, control, asleep)
        again = first_action(live_runtime, PAIR[side], state, variation_of(SECRET), chance_of(SECRET, SEED))
        assert np.array_equal(again, fetched["actions"][0]), side


def test_the_numbers_of_an_episode_have_one_form_whoever_plays(
    played: tuple[Visitor, str, dict[str, str]],
) -> None:
    """A gripper of exactly 0 or 1, 256 bins, or 17 digits told the family."""
    visitor, _, sides = played
    for episode_id in sides.values():
        states = visitor.get(f"episodes/{episode_id}").json()["states"]
        assert len(states) == 21
        for state in states:
            assert all(round(value, 4) == value for value in state["qpos"])
            assert state["qvel"] == []
