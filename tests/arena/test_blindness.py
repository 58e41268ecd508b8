"""Before the vote nothing may tell who is who (V-API-11, decisions: blindness, release-clock).

Battles are played at the settings that are shipped, with policies that differ in all: names, provenance, how they move,
how quick they are, how long they play, which one fails. Whatever can be seen of a battle must be the mirror image of
what is seen when the policies have changed sides, byte for byte, apart from random ids and the time of day; and nothing
may tell how far the sides are before the clock of the turn shows it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpResponse

from arena.models import Attempt, Battle, Turn
from arena.visitors.cookies import COOKIE
from policies.models import Policy
from robots import play
from robots.first_state_maker import make_asked
from simulation.contracts import Floats, Observation
from simulation.view_format import ROWS_PER_CHUNK
from tests.arena.conftest import Visitor
from tests.arena.sockets import Socket
from tests.factories import PolicyFactory
from tests.fakes import NQ, FakePolicy, FakeRuntime

Json = dict[str, Any]
IDS = re.compile(r"(?:sess|battle|turn|ep|vote|req)_[0-9a-f]{32}")
NOISE = [
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "TIME"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "VISITOR"),
    (re.compile(r'(csrfmiddlewaretoken" value="|csrf-token" content=")[^"]+'), r"\1TOKEN"),
]
SEED = 7
STEP_S = 0.2
SIDES = ("left", "right")
MIRRORED = {"left": "right", "right": "left"}


@pytest.fixture(autouse=True)
def _shipped(default_clock: None, settings: Any) -> None:
    """The clock that is shipped. Turns are shorter, so that one that fails is told after four seconds, not ten."""
    settings.ROLLOUT_MAX_STEPS = 20


@pytest.fixture
def pair(transactional_db: None) -> tuple[Policy, Policy]:
    """Two policies that have nothing in common, not even how they move."""
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
    """Looks at everything that a visitor can look at."""

    def __init__(self, left: Policy, right: Policy, secret: str = "0" * 32) -> None:
        self.visitor = Visitor()
        self.seen: list[str] = []
        opened = self.note(self.visitor.post("sessions/init", {"robot_id": "widowx", "scene_id": "table"})).json()
        self.battle_id, self.session_id = opened["battle_id"], opened["session_id"]
        Battle.objects.filter(battle_id=self.battle_id).update(
            left_model=left, right_model=right, seed=SEED, secret=secret
        )

    def note(self, response: HttpResponse) -> HttpResponse:
        headers = {name: value for name, value in response.items() if name.lower() != "set-cookie"}
        cookies = {name: sorted(k for k, v in morsel.items() if v) for name, morsel in response.cookies.items()}
        size = len(response.content)
        self.seen.append(f"{response.status_code} {headers} {cookies} {size} {response.content.decode('latin-1')}")
        return response

    def send(self, instruction: str, start: str = "continue", **more: Any) -> Json:
        body = {"instruction": instruction, "start": start, **more}
        self.turn: Json = self.note(self.visitor.post(f"battles/{self.battle_id}/turns", body)).json()
        return self.turn

    def look(self) -> list[str]:
        """All answers about the battle, which change nothing, and refusals of what may not be done."""
        before = len(self.seen)
        self.visitor.get(f"battles/{self.battle_id}/start")  # asks for it
        make_asked()
        ids = [self.turn[f"{side}_episode_id"] for side in SIDES]
        addresses = [
            f"battles/{self.battle_id}",
            f"battles/{self.battle_id}/start",
            f"battles/session/{self.session_id}",
            f"sessions/{self.session_id}",
            "sessions/?mine",
            f"turns/{self.turn['turn_id']}",
            f"turns/{self.turn['turn_id']}/queue",
            *(f"episodes/{episode_id}{form}" for episode_id in ids for form in ("", "/states.bin", "/replay.bin")),
            "models",
        ]
        for address in addresses:
            self.note(self.visitor.get(address))
        self.note(self.visitor.post(f"battles/{self.battle_id}/turns", {"instruction": ""}))
        for page in ("/battle", f"/battle/{self.battle_id}", "/leaderboard"):
            self.note(self.visitor.client.get(page))
        return self.seen[before:]

    def try_all(self) -> list[str]:
        """Answers to what is refused while a turn runs."""
        before = len(self.seen)
        turn = {"instruction": "wave"}
        self.note(self.visitor.post(f"battles/{self.battle_id}/turns", turn))
        self.note(self.visitor.post(f"battles/{self.battle_id}/turns", turn, Prefer="wait=1"))
        self.note(self.visitor.post(f"battles/{self.battle_id}/explorations", {}))
        self.note(self.visitor.post("votes", {"battle_id": self.battle_id, "vote": "tie"}))
        return self.seen[before:]


class Gated(FakePolicy):
    """Thinks about its first step until `gate` is open."""

    def __init__(self, gate: threading.Event, **more: Any) -> None:
        super().__init__(**more)
        self._gate = gate

    def infer(self, observation: Observation) -> Floats:
        assert self._gate.wait(30)
        return super().infer(observation)


@contextmanager
def workers(turn: Json) -> Iterator[None]:
    """Both sides are played at the same time, as by two workers; at the end both have settled."""

    def work(episode_id: str) -> None:
        Attempt.objects.filter(episode_id=episode_id, status="held").update(status="queued")  # admitted
        play.play(episode_id)
        connection.close()

    both = [threading.Thread(target=work, args=(turn[f"{side}_episode_id"],)) for side in SIDES]
    for each in both:
        each.start()
    try:
        yield
    finally:
        for each in both:
            each.join()


def settle(turn: Json) -> None:
    with workers(turn):
        pass
    assert Turn.objects.get(turn_id=turn["turn_id"]).settled_at is not None


def wait_for(what: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.02)


def wait_until_told(watch: Watcher) -> Json:
    """The turn, once its visitor is told of its end."""
    state: Json = {}

    def told() -> bool:
        state.update(watch.visitor.get(f"turns/{watch.turn['turn_id']}").json())
        return state["status"] in ("completed", "failed")

    wait_for(told)
    return state


def anonymous(texts: list[str]) -> list[str]:
    """What was seen, with ids numbered in the order in which they first appeared, and the time of day left out."""
    names: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{found[0].partition('_')[0]}#{len(names)}")

    told = []
    for text in texts:
        for pattern, word in NOISE:
            text = pattern.sub(word, text)
        told.append(IDS.sub(number, text))
    return told


@dataclass
class Heard:
    """What a socket said: its numbered messages, and the rows of both sides with the moment at which each step came."""

    messages: list[Json]
    rows: dict[str, bytes]
    steps: list[tuple[int, float]]

    def mirrored(self) -> list[str]:
        """As it would have been with the sides changed: what moved, and all that was said."""
        rows = [f"{name}: {self.rows[MIRRORED[name]].hex()}" for name in SIDES]
        return [*anonymous([json.dumps(message) for message in self.messages]), *rows]

    def straight(self) -> list[str]:
        rows = [f"{name}: {self.rows[name].hex()}" for name in SIDES]
        return [*anonymous([json.dumps(message) for message in self.messages]), *rows]


async def listen(socket: Socket) -> Heard:
    """All that the socket says, until the turn has ended."""
    heard = Heard([], dict.fromkeys(SIDES, b""), [])
    while not heard.messages or heard.messages[-1]["type"] != "turn.finished":
        message = await socket.next(timeout=40)
        if message["type"] != "rollout.frames":
            heard.messages.append(message)
            continue
        heard.steps.append((-(-message["from_row"] // ROWS_PER_CHUNK), time.monotonic()))
        for side in SIDES:
            heard.rows[side] += base64.b64decode(message[side])
    return heard


def quick_and_slow(pair: tuple[Policy, Policy], runtime: FakeRuntime, ends: tuple[int, int], **trouble: Any) -> None:
    """The quick policy needs no time and moves on, the slow one thinks and moves back; each reaches the goal at its
    step of `ends` and holds it for four more. `trouble` is the slow one's.
    """
    quick, slow = pair
    runtime.policies = {
        quick.id: FakePolicy(answer=np.array([[0.010, 0.004, 0, 0, 0, 0, 1.0]])),
        slow.id: FakePolicy(
            **{"answer": np.array([[-0.021, 0.011, 0.003, 0, 0, 0, 0.37]]), "pause_s": 0.08, **trouble}
        ),
    }
    runtime.success_at = {quick.id: ends[0], slow.id: ends[1]}


async def test_nothing_on_the_socket_tells_who_is_who_when_the_policies_change_sides(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """A completed turn, and one that the slow policy fails: a release that told `rollout.failed` of one side, other
    steps, or frames at the pace of whoever still plays, would tell them apart (leaks 2 and 3)."""
    quick, slow = pair
    orders = ((quick, slow), (slow, quick))
    watches = [await sync_to_async(Watcher)(*order) for order in orders]
    heard: list[Heard] = []
    for instruction, ends, trouble in (
        ("pick up the red cube", (3, 11), {}),
        ("stack the red cube on the yellow cube", (3, 11), {"raises": RuntimeError("slow is out of memory")}),
    ):
        quick_and_slow(pair, runtime, ends, **trouble)
        heard += await asyncio.gather(*(watch_a_turn(watch, instruction) for watch in watches))
    completed, completed_mirrored, failed, failed_mirrored = heard
    assert completed.straight() == completed_mirrored.mirrored()
    assert completed.rows["left"] != completed.rows["right"]
    assert [message["type"] for message in completed.messages[-3:]] == [*["rollout.finished"] * 2, "turn.finished"]
    assert failed.straight() == failed_mirrored.mirrored()
    assert [message["type"] for message in failed.messages[-3:]] == [*["rollout.failed"] * 2, "turn.finished"]
    assert {(each["reason"], each["steps"]) for each in failed.messages[-3:-1]} == {("turn_failed", None)}
    texts = [text for each in heard for text in each.straight()]
    assert not [text for text in texts for policy in pair if policy.id in text or policy.name in text]
    assert not [text for text in texts if "out of memory" in text or "duration" in text]


async def test_nothing_tells_who_is_who_in_a_battle_of_three_starts_when_the_policies_change_sides(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    quick, slow = pair
    watches = [await sync_to_async(Watcher)(*order) for order in ((quick, slow), (slow, quick))]
    quick_and_slow(pair, runtime, (2, 5))
    straight, mirrored = await asyncio.gather(*map(watch_three_starts, watches))
    assert [heard.straight() for heard in straight] == [heard.mirrored() for heard in mirrored]
    assert len({heard.rows["left"] for heard in straight}) == 3, "the starts are the same"
    answers = [anonymous(watch.seen) for watch in watches]
    assert answers[0] == answers[1]
    assert not [text for text in answers[0] if "duration" in text or "success" in text]


async def watch_three_starts(watch: Watcher) -> list[Heard]:
    """What the socket says of each. A start is played as soon as the end of the one before is told, which is when the
    line lets it go."""
    apart = sync_to_async(thread_sensitive=False)
    async with Socket(watch.visitor, watch.battle_id) as socket:
        await socket.next()
        sent = await apart(in_its_own_connection(lambda: watch.send("pick up the red cube", starts=3)))()
        heard = []
        for turn in sent["starts"]:
            playing = asyncio.create_task(apart(in_its_own_connection(lambda turn=turn: settle(turn)))())
            heard.append(await listen(socket))
            await playing
            await apart(in_its_own_connection(lambda: watch.note(watch.visitor.get(f"battles/{watch.battle_id}"))))()
        return heard


async def watch_a_turn(watch: Watcher, instruction: str) -> Heard:
    apart = sync_to_async(thread_sensitive=False)
    async with Socket(watch.visitor, watch.battle_id) as socket:
        snapshot = await socket.next()
        turn = await apart(in_its_own_connection(lambda: watch.send(instruction)))()
        playing = asyncio.create_task(apart(in_its_own_connection(lambda: settle(turn)))())
        heard = await listen(socket)
        await playing
        heard.messages.insert(0, snapshot)
        return heard


def in_its_own_connection(work: Callable[[], Any]) -> Callable[[], Any]:
    def done() -> Any:
        try:
            return work()
        finally:
            connection.close()

    return done


async def test_after_a_side_has_ended_frames_come_at_the_same_pace_whoever_goes_on(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """Once one side had ended, frames came as quickly as the other side was played (leak 3)."""
    watches = [await sync_to_async(Watcher)(*pair) for _ in range(2)]
    paces = {}
    for name, ends, watch in (("quick", (16, 3), watches[0]), ("slow", (3, 16), watches[1])):
        quick_and_slow(pair, runtime, ends)
        heard = await watch_a_turn(watch, "pick up the red cube")
        moments = dict(heard.steps)
        both, alone = ([moments[step] - moments[step - 1] for step in steps] for steps in (range(2, 7), range(9, 20)))
        paces[name] = (statistics.median(both), statistics.median(alone))
    for both, alone in paces.values():
        assert both == pytest.approx(STEP_S, abs=0.03)
        assert alone == pytest.approx(STEP_S, abs=0.03)


@pytest.mark.parametrize(("fails", "starts"), [(False, 1), (True, 1), (False, 3)])
def test_until_the_clock_has_shown_a_turn_every_answer_is_what_it_was_while_both_sides_played(
    pair: tuple[Policy, Policy], runtime: FakeRuntime, fails: bool, starts: int
) -> None:
    """Status, doors, votes, episodes and places in the queue went by the moment at which the sides settled, which is
    that of the slower one (leak 3); a side's failure was told as its own (leak 2)."""
    gate = threading.Event()
    quick, slow = pair
    trouble = {"raises": RuntimeError("out of memory")} if fails else {}
    runtime.policies = {quick.id: Gated(gate), slow.id: Gated(gate, stride=-0.02, **trouble)}
    runtime.success_at = {quick.id: 4, slow.id: 9}
    watch = Watcher(quick, slow)
    turn = watch.send("pick up the red cube", starts=starts)
    with workers(turn):
        wait_for(lambda: watch.visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "running")
        playing = [*watch.look(), *watch.try_all()]
        gate.set()
    played = Turn.objects.get(turn_id=turn["turn_id"])
    assert played.settled_at is not None
    settled = [*watch.look(), *watch.try_all()]
    shown_at = played.shown_at
    assert shown_at is not None
    assert time.time() < shown_at.timestamp() - 0.5, "too late to have looked in time"
    assert anonymous(settled) == anonymous(playing)

    told = wait_until_told(watch)
    assert time.time() >= shown_at.timestamp()
    assert told["status"] == ("failed" if fails else "completed")
    assert {**told["left"], "episode_id": ""} == {**told["right"], "episode_id": ""}
    codes = [watch.visitor.get(f"episodes/{turn[f'{side}_episode_id']}").status_code for side in SIDES]
    assert codes == [404 if fails else 200] * 2


def test_the_answer_to_who_waits_comes_when_the_clock_has_shown_the_turn_however_quick_both_sides_were(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """`Prefer: wait` ended when the slower side had, so that its answer timed the pair (leak 3)."""
    quick_and_slow(pair, runtime, (3, 3), pause_s=0.0)
    watch = Watcher(*pair)

    def work() -> None:
        wait_for(lambda: Attempt.objects.count() == 2)
        settle({f"{each.side}_episode_id": each.episode_id for each in Attempt.objects.all()} | turn_id())
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    began = time.monotonic()
    answer = watch.visitor.post(f"battles/{watch.battle_id}/turns", {"instruction": "wave"}, Prefer="wait=20")
    worker.join()
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert time.monotonic() - began >= 1.0 + 7 * STEP_S


def turn_id() -> Json:
    return {"turn_id": Turn.objects.get().turn_id}


async def test_cancelling_what_has_settled_looks_like_cancelling_what_runs(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """409 `turn_settled` told when the slower side had ended, and a gap in the numbers that it had (leak 3)."""
    apart = sync_to_async(thread_sensitive=False)
    seen: list[list[str]] = []
    for settled in (False, True):
        gate = threading.Event()
        runtime.policies = {policy.id: Gated(gate) for policy in pair}
        watch = await sync_to_async(Watcher)(*pair)
        async with Socket(watch.visitor, watch.battle_id) as socket:
            await socket.next()
            turn = await sync_to_async(watch.send)("pick up the red cube")
            playing = asyncio.create_task(apart(in_its_own_connection(lambda turn=turn: settle(turn)))())
            early = await socket.until("rollout.started")
            if settled:
                gate.set()
                await playing
            answer = await sync_to_async(watch.visitor.post)(f"turns/{turn['turn_id']}/cancel")
            heard = [*early, *await socket.until("turn.finished")]
            gate.set()
            await playing
            again = await sync_to_async(watch.visitor.battle)(watch.battle_id)
        assert answer.status_code == 200, answer.content
        numbered = [message for message in heard if message["type"] != "rollout.frames"]
        seen.append(
            anonymous([json.dumps(message) for message in numbered] + [answer.content.decode(), json.dumps(again)])
        )
    assert seen[0] == seen[1]


async def test_leaving_a_battle_whose_turn_has_settled_looks_like_leaving_one_whose_turn_runs(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """The event's number would count the end that was not told yet (leak 3)."""
    quick_and_slow(pair, runtime, (3, 3), pause_s=0.0)
    watch = await sync_to_async(Watcher)(*pair)
    async with Socket(watch.visitor, watch.battle_id) as socket:
        await socket.next()
        turn = await sync_to_async(watch.send)("pick up the red cube")
        await sync_to_async(settle)(turn)
        await sync_to_async(watch.visitor.post)(f"sessions/{watch.session_id}/battles")
        got = [message for message in await socket.until("turn.finished") if message["type"] != "rollout.frames"]
    assert [message["seq"] for message in got] == [1, 2, 3, 4, 5, 6]
    assert [message["type"] for message in got[2:4]] == ["battle.abandoned", "rollout.finished"]


async def test_a_page_that_is_loaded_in_the_middle_is_shown_the_same_whether_both_sides_have_settled_or_not(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """It gets the steps up to the present one at once, and the end when everybody does (leak 3)."""
    quick_and_slow(pair, runtime, (3, 6), pause_s=0.0)
    watch = await sync_to_async(Watcher)(*pair)
    turn = await sync_to_async(watch.send)("pick up the red cube")
    await sync_to_async(settle)(turn)
    shown_at = (await sync_to_async(Turn.objects.get)()).shown_at
    assert shown_at is not None
    await asyncio.sleep(max(0.0, shown_at.timestamp() - time.time() - 1.1))
    async with Socket(watch.visitor, watch.battle_id) as socket:
        snapshot = (await socket.next())["battle"]
        first = await socket.next()
        await socket.ask_for_snapshot()
        again = (await socket.until("snapshot"))[-1]["battle"]
        last = (await socket.until("snapshot"))[-1]["battle"]
    assert snapshot == again
    assert (snapshot["turns"][0]["status"], snapshot["seq"], first["from_row"]) == ("running", 2, 0)
    assert len(base64.b64decode(first["left"])) > NQ * 2 * (1 + ROWS_PER_CHUNK)
    assert (last["turns"][0]["status"], last["seq"]) == ("completed", 5)
    assert time.time() >= shown_at.timestamp()


async def test_a_page_that_is_loaded_in_the_middle_of_the_second_start_is_shown_that_one(
    pair: tuple[Policy, Policy], runtime: FakeRuntime
) -> None:
    """The third is known to it, and waits."""
    quick_and_slow(pair, runtime, (2, 4), pause_s=0.0)
    watch = await sync_to_async(Watcher)(*pair)
    first, second, _ = (await sync_to_async(watch.send)("pick up the red cube", starts=3))["starts"]
    await sync_to_async(settle)(first)
    await sync_to_async(wait_until_told)(watch)
    await sync_to_async(settle)(second)
    async with Socket(watch.visitor, watch.battle_id) as socket:
        snapshot = (await socket.next())["battle"]
        heard = await socket.until("snapshot")
    assert [turn["status"] for turn in snapshot["turns"]] == ["completed", "running", "queued"]
    assert {message["turn_id"] for message in heard[:-1]} == {second["turn_id"]}
    assert [turn["status"] for turn in heard[-1]["battle"]["turns"]] == ["completed", "completed", "queued"]


def test_the_cookie_says_nothing_about_battles(pair: tuple[Policy, Policy]) -> None:
    one = Visitor()
    one.open()
    first = one.client.cookies[COOKIE].value
    one.open()
    assert first.partition(":")[0] == one.client.cookies[COOKIE].value.partition(":")[0]
