"""What told who plays before the vote in the first release: a test of each leak, which fails there.

It uses what a visitor, a worker or a moderator could use then as well, so that this very file runs in the release's
`tests/arena/` (decision: blindness-tests).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.conf import settings as site
from django.test import Client

from arena.store import get_store
from policies.base import PolicyError
from policies.registry import open_policy
from rankings.publication import aggregation
from robots import play as episodes
from tests.arena.conftest import Visitor, battle_row, play, play_battle, side_of
from tests.factories import PolicyFactory, VoteFactory
from tests.fakes import FakePolicy, FakeRuntime
from tests.people import logged_in, moderator

SIDES = ("left", "right")
IDS = re.compile(r"(?:sess|battle|turn|ep)_[0-9a-f]{32}")


def ids_of(battle_id: str) -> dict[str, str]:
    return {side: side_of(battle_id, side).episode_id for side in SIDES}


def without_ids(told: Any) -> str:
    return IDS.sub("ID", json.dumps(told))


def both_sides(visitor: Visitor, battle_id: str) -> list[str]:
    """What is told of either side of the last turn, ids left out."""
    turn = visitor.battle(battle_id)["turns"][-1]
    return [without_ids(turn[side]) for side in SIDES]


# 1. Exact numbers: they give an action back to whoever runs the open weights.


@pytest.mark.parametrize("form", ["states.bin", "replay.bin"])
def test_no_exact_recording_can_be_fetched_before_the_vote(visitor: Visitor, runtime: FakeRuntime, form: str) -> None:
    battle_id = play_battle(visitor)
    told = {side: visitor.get(f"episodes/{each}/{form}").status_code for side, each in ids_of(battle_id).items()}
    assert told == {"left": 409, "right": 409}


def test_an_episode_tells_no_actions_no_velocities_and_no_exact_positions_before_the_vote(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    for episode_id in ids_of(play_battle(visitor)).values():
        seen = visitor.get(f"episodes/{episode_id}").json()
        numbers = np.array([state["qpos"] for state in seen["states"]])
        assert seen["actions"] == []
        assert [state["qvel"] for state in seen["states"] if state["qvel"]] == []
        assert np.array_equal(numbers, np.round(numbers, 4))


# 2. Instructions that one network can read and another cannot.

HARD = {
    "twenty words": "put the red cube that stands behind the blue one to the left of the can on the plate by the arm",
    "two hundred letters": "zq" * 100,
    "five hundred letters": "put the red cube on the left plate and " * 12,
    "two hundred emoji": "\U0001f916" * 200,
}


def unreadable(instruction: str) -> dict[str, str]:
    """The shipped networks that refuse it, and how."""
    found = {}
    for folder in sorted(path for path in site.POLICY_WEIGHTS.iterdir() if path.is_dir()):
        policy = open_policy(folder)
        try:
            policy.reset(instruction, 1)
        except PolicyError as refusal:
            found[folder.name] = str(refusal)
        finally:
            policy.close()
    return found


@pytest.mark.parametrize("kind", HARD)
def test_what_is_let_in_as_an_instruction_is_read_by_every_shipped_network(
    visitor: Visitor, runtime: FakeRuntime, kind: str
) -> None:
    sent = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": HARD[kind]})
    assert sent.status_code in (202, 422)
    assert sent.status_code == 422 or unreadable(HARD[kind]) == {}


def test_a_turn_that_one_side_failed_has_failed_on_both(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(raises=RuntimeError("too many words"))}
    play(visitor.send(battle_id))
    left, right = both_sides(visitor, battle_id)
    assert left == right


# 3. Time: which side is quicker.


def test_the_end_of_a_turn_is_told_by_the_clock_however_quick_its_sides_were(
    visitor: Visitor, runtime: FakeRuntime, settings: Any
) -> None:
    settings.RELEASE = {"buffer_s": 1.0, "speed": 1.0}  # as the arena ships; the first release had no clock
    battle_id = play_battle(visitor)
    assert visitor.battle(battle_id)["turns"][-1]["status"] == "running"


def test_nothing_tells_how_long_a_side_took_or_how_many_steps_it_played(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(pause_s=0.02)}
    runtime.success_at = {battle_row(battle_id).right_model_id: 5}
    play(visitor.send(battle_id))
    left, right = both_sides(visitor, battle_id)
    assert left == right
    sizes = {len(visitor.get(f"episodes/{each}").json()["states"]) for each in ids_of(battle_id).values()}
    assert len(sizes) == 1


# 4. The hourly report counted battles without a vote.


def test_an_hour_with_an_unvoted_battle_is_published_like_one_without(visitor: Visitor, runtime: FakeRuntime) -> None:
    PolicyFactory(id="gamma")
    VoteFactory(battle__left_model_id="alpha", battle__left_model=None, battle__right_model=PolicyFactory(id="delta"))
    aggregation.aggregate()
    before = published()
    play_battle(visitor)
    aggregation.aggregate()
    assert published() == before


def published() -> dict[str, Any]:
    report = Client().get("/api/leaderboard/report").json()
    return {name: report[name] for name in ("physics", "exposure", "agreement")}


# 5. Staff saw the names, and may vote.


def test_the_admin_does_not_name_the_policies_of_a_battle_without_a_vote(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor)
    battle, desk = battle_row(battle_id), logged_in(moderator())
    names = (battle.left_model.name, battle.right_model.name)
    for page in (f"battle/{battle.pk}", f"attempt/{side_of(battle_id, 'left').pk}"):
        answer = desk.get(f"/admin/arena/{page}/change/")
        assert answer.status_code == 200
        assert [name for name in names if name in answer.content.decode()] == [], page


# 6. /metrics answered through a proxy that adds no header, and named who plays.


@pytest.fixture
def scraper(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr("vlaarena.health.parts_up", dict)

    def ask(**more: str) -> Any:
        return Client().get("/metrics", headers={"Host": "localhost:8000"}, REMOTE_ADDR="127.0.0.1", **more)

    return ask


def test_figures_are_not_given_through_a_proxy_that_adds_nothing(visitor: Visitor, scraper: Callable[..., Any]) -> None:
    """As nginx asks by `proxy_pass http://localhost:8000;`."""
    assert scraper(SERVER_PROTOCOL="HTTP/1.0").status_code == 404


def test_figures_name_nobody_who_is_played_now(visitor: Visitor, scraper: Callable[..., Any]) -> None:
    def named() -> list[str]:
        return [line for line in scraper().content.decode().splitlines() if re.search(r'="(alpha|beta)"', line)]

    before = named()
    visitor.send(visitor.open())
    assert named() == before


# 7. The profile that was said to have rendered a side was a constant, whatever rendered it.


def test_two_kinds_of_renderers_never_play_the_two_sides_of_a_turn(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    for side, profile in zip(SIDES, ("look-1 osmesa; llvmpipe; Mesa", "look-1 egl; NVIDIA H100; 4.6"), strict=True):
        worker: Any = FakeRuntime()
        worker.render_profile = profile
        monkeypatch.setattr(episodes, "runtime", lambda worker=worker: worker)
        episodes.play(turn[f"{side}_episode_id"])
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] != "completed"


def test_a_recording_says_what_rendered_it(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    worker: Any = FakeRuntime()
    worker.render_profile = "look-1 egl; NVIDIA H100; 4.6"
    monkeypatch.setattr(episodes, "runtime", lambda: worker)
    kept = [get_store().get(each) for each in ids_of(play_battle(visitor)).values()]
    assert [document and document["render_profile"] for document in kept] == [worker.render_profile] * 2
