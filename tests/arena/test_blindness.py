"""Before the vote nothing may tell who is who (V-API-11, decision 9).

Two battles are played; in the second one the policies have changed sides. Both policies move alike, but differ in all
else: names, provenance, weights, speed, who is played first, who fails. Whatever the visitor can see of the two battles
must then be the same, byte for byte, apart from random ids and the time of day.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.http import HttpResponse

from arena import actions, episodes
from arena.models import Battle, Rollout
from arena.visitors import COOKIE
from policies.models import Policy
from tests.arena.conftest import Visitor
from tests.arena.sockets import Socket
from tests.factories import PolicyFactory
from tests.fakes import FakePolicy, FakeStage

IDS = re.compile(r"(?:sess|battle|turn|ep|vote|req)_[0-9a-f]{32}")
NOISE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "TIME"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "VISITOR"),
    (re.compile(r'(csrfmiddlewaretoken" value="|csrf-token" content=")[^"]+'), r"\1TOKEN"),
]
SEED = 7


@pytest.fixture(autouse=True)
def _frames_without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many steps a quarter of a second has is chance: a turn's live frames come at its end."""
    monkeypatch.setattr("arena.reporter.REPORT_S", 60.0)


@pytest.fixture
def pair(transactional_db: None) -> tuple[Policy, Policy]:
    """Two policies that have nothing in common but how they move."""
    quick = PolicyFactory(id="quick-one", name="Quick", provenance="In a garage", pairing_weight=1, revision="a" * 64)
    slow = PolicyFactory(
        id="the-slow-and-famous-one",
        name="Slow and famous, seven billion parameters",
        provenance="By a company, on everything",
        organization="A company",
        family="openvla",
        adapter="openvla",
        pairing_weight=9,
        revision="b" * 64,
    )
    return quick, slow


class Watcher:
    """Looks at everything that a visitor can look at, after each thing that happens."""

    def __init__(self, visitor: Visitor, left: Policy, right: Policy) -> None:
        self.visitor = visitor
        self.seen: list[str] = []
        self.blink = False  # plays without looking, for who only listens
        self.note(visitor.post("sessions/init", {"robot_id": "widowx", "scene_id": "table"}))
        Battle.objects.update(left_model=left, right_model=right, seed=SEED)
        battle = Battle.objects.select_related("session").get()
        self.battle_id, self.session_id = battle.battle_id, battle.session_id

    def note(self, response: HttpResponse) -> HttpResponse:
        headers = {name: value for name, value in response.items() if name.lower() != "set-cookie"}
        cookies = {name: sorted(k for k, v in morsel.items() if v) for name, morsel in response.cookies.items()}
        size = len(response.content)
        self.seen.append(f"{response.status_code} {headers} {cookies} {size} {response.content.decode('latin-1')}")
        return response

    def send(self, instruction: str, start: str = "continue") -> None:
        body = {"instruction": instruction, "start": start}
        self.turn: dict[str, Any] = self.note(self.visitor.post(f"battles/{self.battle_id}/turns", body)).json()

    def look(self) -> None:
        if self.blink:
            return
        self.seen.append("-- look")
        ids = [self.turn["left_episode_id"], self.turn["right_episode_id"]]
        addresses = [
            f"battles/{self.battle_id}",
            f"battles/session/{self.session_id}",
            f"sessions/{self.session_id}",
            "sessions/?mine",
            f"turns/{self.turn['turn_id']}",
            *(f"episodes/{episode_id}" for episode_id in ids),
            *(f"episodes/{episode_id}/states.bin" for episode_id in ids),
            *(f"episodes/{episode_id}/replay.bin" for episode_id in ids),
            "models",
        ]
        for address in addresses:
            self.note(self.visitor.get(address))
        self.note(self.visitor.post(f"battles/{self.battle_id}/turns", {"instruction": ""}))
        for page in ("/battle", f"/battle/{self.battle_id}", "/leaderboard"):
            self.note(self.visitor.client.get(page))

    def transcript(self) -> list[str]:
        """All that was seen, with ids numbered in the order in which they first appeared."""
        names: dict[str, str] = {}

        def number(found: re.Match[str]) -> str:
            return names.setdefault(found[0], f"{found[0].partition('_')[0]}#{len(names)}")

        told = []
        for text in self.seen:
            for pattern, word in NOISE:
                text = pattern.sub(word, text)
            told.append(IDS.sub(number, text))
        return told


def side_of(policy: Policy, turn: dict[str, Any]) -> str:
    """The episode id of this policy's side, whichever it is."""
    found = Rollout.objects.get(turn__turn_id=turn["turn_id"], model=policy)
    return found.episode_id


def play_watched(watch: Watcher, stage: FakeStage, quick: Policy, slow: Policy) -> None:
    """Four turns in which the one policy is ahead of, slower than, and worse behaved than the other in every way."""
    watch.send("pick up the red cube")
    watch.look()
    first = actions.claim_rollout(side_of(quick, watch.turn), "worker of the quick")
    watch.look()
    assert first is not None
    actions.report_progress(first, 12, 0, [[step / 5, 1.0] for step in range(13)])
    watch.look()
    second = actions.claim_rollout(side_of(slow, watch.turn), "worker of the slow")
    watch.look()
    assert second is not None
    actions.report_progress(second, 3, 0, [[step / 5, 1.0] for step in range(4)])
    watch.look()
    actions.give_up_attempt(second)
    watch.look()
    again = actions.claim_rollout(second.episode_id, "another worker")
    assert again is not None
    actions.report_progress(first, 30, 13, [[step / 5, 1.0] for step in range(13, 31)])
    watch.look()
    actions.report_progress(again, 29, 0, [[step / 5, 1.0] for step in range(31)])
    watch.look()
    for rollout, seconds in ((first, 0.1), (again, 900.0)):
        outcome = actions.Outcome(30, True, 1.0, "success", seconds, "0" * 64)
        actions.finish_rollout(rollout, outcome)
        watch.look()

    watch.send("put the red cube on the left plate", "reset")
    for policy in (quick, slow):
        stage.cast = {slow.id: FakePolicy(pause_s=0.01)}
        episodes.play(side_of(policy, watch.turn))
        watch.look()
    assert Rollout.objects.filter(status="completed").count() == 4

    watch.send("stack the red cube on the yellow cube")
    for policy in (slow, quick):
        failing = RuntimeError(f"{policy.name} is out of memory")
        stage.cast = {policy.id: FakePolicy(raises=failing)}
        episodes.play(side_of(policy, watch.turn))
        watch.look()

    watch.send("stack the red cube on the yellow cube")
    stage.cast = {}
    for policy in (slow, quick):
        episodes.play(side_of(policy, watch.turn))
        watch.look()
    assert Rollout.objects.filter(status="completed").count() == 6


def battles(pair: tuple[Policy, Policy], stage: FakeStage) -> Iterator[list[str]]:
    quick, slow = pair
    for left, right in ((quick, slow), (slow, quick)):
        forget()
        watch = Watcher(Visitor(), left, right)
        play_watched(watch, stage, quick, slow)
        yield watch.transcript()


def forget() -> None:
    """Leave no battle of before: lists and counters begin anew."""
    for model in (Rollout, Battle.turns.rel.related_model, Battle):
        model.objects.all().delete()


def test_nothing_that_a_visitor_sees_before_the_vote_names_a_policy_or_differs_when_the_policies_change_sides(
    pair: tuple[Policy, Policy], stage: FakeStage
) -> None:
    one, other = battles(pair, stage)
    assert len(one) > 150
    for here, there in zip(one, other, strict=True):
        assert here == there

    about_battles = [text for text in one if '"results":[{"model_id"' not in text and "<title>" not in text]
    secrets = {getattr(policy, name) for policy in pair for name in ("id", "name", "provenance", "revision")}
    secrets |= {"openvla", "A company", "out of memory", "worker of", "duration", "pairing"}
    assert len(about_battles) > 100
    for text in about_battles:
        assert not [secret for secret in secrets if secret in text]


async def test_nothing_on_the_socket_differs_when_the_policies_change_sides(
    pair: tuple[Policy, Policy], stage: FakeStage
) -> None:
    quick, slow = pair
    heard = []
    for left, right in ((quick, slow), (slow, quick)):
        await sync_to_async(forget)()
        watch = await sync_to_async(Watcher)(Visitor(), left, right)
        async with Socket(watch.visitor, watch.battle_id) as socket:
            await socket.next()
            watch.blink = True
            await sync_to_async(play_watched)(watch, stage, quick, slow)
            watch.seen.clear()
            await asyncio.sleep(0.3)
            while not await socket.wire.receive_nothing(timeout=0.1):
                watch.seen.append(json.dumps(await socket.next()))
        heard.append(watch.transcript())
    one, other = heard
    assert len(one) > 20
    assert one == other
    assert not [text for text in one for policy in pair if policy.id in text or policy.name in text]


def test_the_answer_to_a_turn_takes_no_longer_for_one_side_than_for_the_other(
    pair: tuple[Policy, Policy], stage: FakeStage
) -> None:
    """Waiting ends when both sides have settled, so a client's clock sees the slower one only."""
    quick, slow = pair
    stage.cast = {slow.id: FakePolicy(pause_s=0.01)}
    watch = Watcher(Visitor(), slow, quick)
    watch.send("pick up the red cube")
    episodes.play(side_of(quick, watch.turn))
    assert watch.visitor.get(f"turns/{watch.turn['turn_id']}").json()["status"] == "queued"
    began = time.monotonic()
    episodes.play(side_of(slow, watch.turn))
    assert time.monotonic() - began > 0.5
    turn = watch.visitor.get(f"turns/{watch.turn['turn_id']}").json()
    assert turn["left"].keys() == turn["right"].keys()
    assert {name: turn["left"][name] for name in ("status", "steps", "error")} == {
        name: turn["right"][name] for name in ("status", "steps", "error")
    }


def test_the_cookie_says_nothing_about_battles(pair: tuple[Policy, Policy]) -> None:
    one = Visitor()
    one.open()
    first = one.client.cookies[COOKIE].value
    one.open()
    assert first.partition(":")[0] == one.client.cookies[COOKIE].value.partition(":")[0]
