"""Each process of a call is killed in the middle of it: what was under way ends with a plain reason or goes on,
recordings are kept where both had spoken, the slot can be used once more, and the other side stays as it was.

Real processes, real speech; the language model is a server of the tests. Needs `make install-voice`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.ports import free_port
from tests.stack import FOR_TESTS, Arena, wait_until
from tests.visitor import Visitor
from tests.voice.model_server import NAME

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(900)]
BASE = Path(__file__).resolve().parent.parent.parent
SERVE = (
    "import sys; from tests.voice.model_server import ModelServer\n"
    "server = ModelServer(()); print(server.server_port, flush=True); server.serve_forever()"
)
TWO_THAT_ASK_IT = """
from arena.models import Contestant
from voice.models import VoiceAgent
Contestant.objects.filter(kind='voice').exclude(pk='local-language').update(status='retired')
VoiceAgent.objects.create(id='second', name='Second', provider='local', config={'mind': 'language'}, status='active')
"""
ASK_AGAIN = "from datetime import timedelta; from voice.battles import evaluating; evaluating.ask_again(timedelta(0))"
PATIENT_S = 240.0
"""For an answer by real speech on a busy machine."""


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A language model's process, which says "I do not know.", and its port."""
    process = subprocess.Popen([sys.executable, "-c", SERVE], cwd=BASE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, model: tuple[Any, int]) -> Iterator[Arena]:
    built = str(tmp_path_factory.mktemp("built"))  # no page is looked at
    own = {"ARENA_STATIC": built, "ARENA_SCENES": built, "ARENA_KINDS": "robots,voice"}
    own |= {"ARENA_VOICE_PORT": str(free_port()), "ARENA_VOICE_MODEL": NAME}
    own |= {"ARENA_VOICE_MODEL_URL": f"http://127.0.0.1:{model[1]}/v1"}
    own |= {"ARENA_DRAWING_NICENESS": "0"}  # a busy machine leaves nothing to a polite worker
    found = Arena(tmp_path_factory.mktemp("arena"), **FOR_TESTS, **own)
    try:
        found.start()
        found.manage("shell", "--verbosity", "0", "-c", TWO_THAT_ASK_IT)
        yield found
    finally:
        found.close()


class Phone:
    """A browser's end of a call."""

    def __init__(self, address: str, wires: ExitStack) -> None:
        self.address = address
        self.wire = wires.enter_context(connect(address, proxy=None, max_size=None, open_timeout=60))

    def until(self, *types: str) -> dict[str, Any]:
        while True:
            got = self.wire.recv(timeout=PATIENT_S)
            if isinstance(got, str) and (message := json.loads(got))["type"] in types:
                return dict(message)

    def tell(self, **message: str) -> None:
        self.wire.send(json.dumps(message))

    def talk(self) -> None:
        """Until both have spoken."""
        self.until("said")
        self.tell(type="say", text="I would like a haircut on Thursday.")
        while self.until("said")["role"] != "caller":
            pass
        while self.until("said")["role"] != "agent":
            pass

    def vanish(self) -> None:
        """As where the browser's process is killed: no closing handshake."""
        self.wire.socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(ConnectionClosed):
            self.until("nothing")


class Battle:
    """`wires`: what is open of its calls."""

    def __init__(self, arena: Arena, wires: ExitStack) -> None:
        self.wires = wires
        self.visitor = Visitor(arena.url)
        place = {"kind": "voice", "category_id": "booking", "scenario_id": "haircut"}
        status, body = self.visitor.post("/api/sessions/init", place)
        assert status == 201, body
        self.id = str(body["battle_id"])

    def open(self, label: str) -> Phone:
        status, body = self.visitor.post(f"/api/battles/{self.id}/calls", {"label": label, "consent": True})
        assert status == 201, body
        return self.dial(str(body["socket"]))

    def dial(self, address: str) -> Phone:
        return Phone(address, self.wires)

    def call(self, label: str) -> None:
        """A whole call."""
        phone = self.open(label)
        phone.talk()
        phone.tell(type="end")
        assert phone.until("ended")["reason"] == "caller_hung_up"

    def slots(self) -> dict[str, tuple[str, int]]:
        """Label -> its status and how often it may still be called."""
        _, body = self.visitor.get(f"/api/battles/{self.id}/calls")
        return {each["label"]: (each["status"], each["tries_left"]) for each in body["calls"]}

    def metrics(self) -> Any:
        status, body = self.visitor.get(f"/api/battles/{self.id}/agent-metrics")
        assert status == 200, body
        return body


@pytest.fixture
def battle(arena: Arena) -> Iterator[Battle]:
    with ExitStack() as wires:
        yield Battle(arena, wires)


def recordings(arena: Arena) -> set[str]:
    return {folder.name for folder in arena.folder.glob("**/call_*") if folder.is_dir()}


def kill_all(pid: int) -> None:
    """A part with the processes that it has started."""
    family = [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]
    for process in family:
        process.kill()
    psutil.wait_procs(family, timeout=60)


def test_the_process_that_holds_calls(arena: Arena, battle: Battle) -> None:
    battle.call("a")
    kept = recordings(arena)
    phone = battle.open("b")
    phone.talk()
    pid = arena.children()["voice"]
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ConnectionClosed):
        phone.until("ended")
    wait_until(lambda: arena.children().get("voice") not in (None, pid))
    arena.wait_healthy()
    wait_until(lambda: answers(phone.address))
    told = battle.dial(phone.address).until("error")
    assert told["code"] == "call_lost"
    assert "call this agent once more" in told["detail"]
    assert battle.slots() == {"a": ("ended", 0), "b": ("open", 1)}
    assert recordings(arena) == kept, "nothing is left of a lost call"
    battle.call("b")
    assert battle.slots() == {"a": ("ended", 0), "b": ("ended", 0)}
    assert len(recordings(arena)) == len(kept) + 1


def answers(address: str) -> bool:
    """Whether its port takes connections."""
    try:
        with connect(address.rpartition("/")[0] + "/nothing", proxy=None, open_timeout=10):
            return True
    except OSError:
        return False


def test_the_browser(arena: Arena, battle: Battle) -> None:
    before = recordings(arena)
    phone = battle.open("a")
    phone.talk()
    phone.vanish()
    again = battle.dial(phone.address)
    assert again.until("resumed", "error")["type"] == "resumed", "whoever comes back goes on"
    again.vanish()
    wait_until(lambda: battle.slots()["a"] == ("ended", 0))
    assert len(recordings(arena) - before) == 1, "both had spoken"
    assert battle.dial(phone.address).until("error")["code"] == "slot_used"
    silent = battle.open("b")
    silent.until("started")
    silent.vanish()
    wait_until(lambda: battle.slots()["b"] == ("open", 1))
    assert len(recordings(arena) - before) == 1, "nobody had answered anybody"
    battle.call("b")
    assert battle.slots() == {"a": ("ended", 0), "b": ("ended", 0)}


def test_the_evaluation_worker(arena: Arena, battle: Battle) -> None:
    before = recordings(arena)
    battle.call("a")
    battle.call("b")
    turn = battle.visitor.send_turn(battle.id, "Haircut")
    assert battle.visitor.wait_for_turn(turn)["status"] == "completed"
    pid = arena.children()["drawing"]
    status, body = battle.visitor.post("/api/votes", {"battle_id": battle.id, "vote": "tie"})
    assert status == 201, body
    kill_all(pid)
    assert battle.metrics()["status"] in ("computing", "partial")
    assert len(recordings(arena) - before) == 2
    wait_until(lambda: arena.children().get("drawing") not in (None, pid))
    arena.manage("shell", "--verbosity", "0", "-c", ASK_AGAIN)
    wait_until(lambda: battle.metrics()["status"] == "complete", seconds=600)
    told = battle.metrics()
    assert all(told[label]["turns"] and told[label]["evaluation"] == "complete" for label in "ab")
    wait_until(lambda: suffixes(arena, recordings(arena) - before) == {".opus"})


def suffixes(arena: Arena, folders: set[str]) -> set[str]:
    """Of the recordings in there."""
    return {path.suffix for name in folders for path in arena.folder.glob(f"**/{name}/*")}


def test_the_language_model_of_the_agent(
    arena: Arena, battle: Battle, model: tuple[subprocess.Popen[str], int]
) -> None:
    before = recordings(arena)
    phone = battle.open("a")
    phone.talk()
    model[0].kill()
    model[0].wait()
    phone.tell(type="say", text="I said on Thursday.")
    ended = phone.until("ended")
    assert (ended["reason"], ended["again"]) == ("agent_failed", False)
    assert battle.slots()["a"] == ("ended", 0)
    assert len(recordings(arena) - before) == 1, "both had spoken, so it can be voted on"
    other = battle.open("b")
    other.until("said")
    other.tell(type="say", text="I would like a haircut on Thursday.")
    assert other.until("ended")["reason"] == "agent_failed"
    assert battle.slots() == {"a": ("ended", 0), "b": ("ended", 0)}
    turn = battle.visitor.send_turn(battle.id, "Haircut")
    assert battle.visitor.wait_for_turn(turn)["status"] == "completed"
