"""The tools of the fault suite find what they are there to find."""

from __future__ import annotations

import re
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.faults import services, testbed
from tests.faults.audit import Held, complaints
from tests.faults.crowd import Ledger
from tests.faults.inject import Pace
from tests.faults.link import Line, LineState
from tests.faults.services import OwnServer, Service
from tests.ports import free_port
from tests.stack import wait_until

PROMISED = Ledger(turns={"turn_1"}, votes={"battle_1": ("vote_1", "tie")})
WELL = Held(
    votes=[("vote_1", "battle_1", "tie")],
    turns={"turn_1": ["completed", "completed"]},
    completed=["ep_1"],
    episodes=["ep_1", "ep_2"],
)


def held(**changes: object) -> Held:
    return Held(**{**vars(WELL), **changes})  # type: ignore[arg-type]


def test_nothing_is_found_where_every_promise_was_kept() -> None:
    assert complaints(PROMISED, WELL) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (held(votes=[]), "acknowledged and is lost"),
        (held(votes=[*WELL.votes, ("vote_2", "battle_1", "tie")]), "more than one vote"),
        (held(votes=[("vote_1", "battle_1", "both_bad")]), "acknowledged"),
        (held(votes=[*WELL.votes, ("vote_2", "battle_2", "tie")]), "nobody cast"),
        (held(turns={}), "promised and is not there"),
        (held(turns={"turn_1": ["running", "completed"]}), "stuck"),
        (held(episodes=[]), "without an episode"),
    ],
)
def test_a_broken_promise_is_found(found: Held, words: str) -> None:
    assert any(words in complaint for complaint in complaints(PROMISED, found))


def test_a_vote_whose_answer_was_lost_may_be_there_or_not() -> None:
    ledger = Ledger(open_votes={"battle_2": "tie"})
    assert complaints(ledger, Held()) == []
    assert complaints(ledger, Held(votes=[("vote_2", "battle_2", "tie")])) == []
    assert complaints(ledger, Held(votes=[("vote_2", "battle_2", "both_bad")])) != []


def test_a_line_passes_is_cut_refuses_and_passes_again() -> None:
    with echo() as port:
        line = Line("127.0.0.1", port)
        with socket.create_connection(("127.0.0.1", line.port), 5) as client:
            assert said_back(client) == b"hello"
            line.set(LineState.CUT)
            assert client.recv(10) == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", line.port), 5)
        line.set(LineState.OPEN)
        with socket.create_connection(("127.0.0.1", line.port), 5) as client:
            assert said_back(client) == b"hello"
        line.close()


def test_a_slow_line_delivers_everything_later_in_the_order_in_which_it_was_said() -> None:
    said = b"".join(b"%05d" % number for number in range(2000))
    with echo() as port:
        line = Line("127.0.0.1", port, delay_s=0.05)
        with socket.create_connection(("127.0.0.1", line.port), 5) as client:
            began = time.monotonic()
            client.sendall(said)
            got = b""
            while len(got) < len(said):
                got += client.recv(65536)
            assert time.monotonic() - began >= 0.1, "once on the way there and once on the way back"
        assert got == said
        assert line.passed == 2 * len(said)
        line.close()


def test_a_stuck_line_holds_what_is_said_until_it_moves_again() -> None:
    with echo() as port:
        line = Line("127.0.0.1", port)
        with socket.create_connection(("127.0.0.1", line.port), 5) as client:
            assert said_back(client) == b"hello"
            line.set(LineState.STUCK)
            client.sendall(b"hello")
            client.settimeout(0.3)
            with pytest.raises(TimeoutError):
                client.recv(5)
            line.set(LineState.OPEN)
            client.settimeout(5)
            assert client.recv(5) == b"hello"
        line.close()


@pytest.mark.parametrize("listens", [True, False])
def test_a_server_whose_start_never_ends_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    monkeypatch.setattr(services, "UP_AGAIN_WITHIN_S", 1.0)
    port = free_port()
    code = f"import socket, time; heard = {listens} and socket.create_server(('127.0.0.1', {port})); time.sleep(60)"
    server = OwnServer(Service("sleeper", port, [sys.executable, "-c", code], {}), tmp_path / "log")
    first = server.process.pid
    if listens:
        server.wait()
        time.sleep(1.5)
        assert server.process.pid == first
    else:
        wait_until(lambda: server.process.pid != first)
    server.stop()


def said_back(client: socket.socket) -> bytes:
    client.settimeout(5)
    client.sendall(b"hello")
    return client.recv(5)


class echo:
    """A server on a free port that says back what it hears."""

    def __enter__(self) -> int:
        self._server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return int(self._server.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while heard := connection.recv(100):
                connection.sendall(heard)


def test_kills_of_one_part_keep_below_what_ends_the_arena() -> None:
    pace, killed = Pace(allowed=2, window_s=0.3), []
    for _ in range(5):
        pace.keep("web")
        killed.append(time.monotonic())
    pace.keep("beat")
    assert time.monotonic() - killed[-1] < 0.2, "another part waits for its own kills alone"
    assert all(later - earlier >= 0.29 for earlier, later in zip(killed, killed[2:], strict=False))


def test_campaigns_change_no_setting_but_the_limits_of_visitors() -> None:
    source = Path(testbed.__file__).read_text()
    assert set(re.findall(r"ARENA_[A-Z_]+", source)) == {*testbed.NO_LIMITS, "ARENA_STATIC", "ARENA_SCENES"}
