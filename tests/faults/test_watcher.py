"""A watcher finds what a page should not have been told, or was not told in the end; and comes back as pages do."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import ServerConnection, serve

from tests.faults import watcher
from tests.faults.audit import Held, complaints
from tests.faults.crowd import Ledger
from tests.faults.watcher import Told, View, Watcher

Json = dict[str, Any]
TURN: Json = {"turn_id": "turn_1", "seq": 1, "status": "running", "left": {}, "right": {}}
OPENED: Json = {"type": "turn.opened", "seq": 1, "turn": TURN, "battle": {}}
STARTED: Json = {"type": "rollout.started", "seq": 2, "turn_id": "turn_1", "release_from": "2026-01-31T12:00:00.000Z"}
FRAMES: Json = {"type": "rollout.frames", "turn_id": "turn_1", "from_row": 0, "left": "AAA=", "right": "AAA="}
FINISHED: Json = {"type": "turn.finished", "seq": 3, "turn_id": "turn_1", "status": "completed", "turn": None}


def battle(seq: int = 0, *turns: Json, **more: Any) -> Json:
    return {"battle_id": "battle_1", "seq": seq, "left_model": "???", "vote": None, "turns": list(turns), **more}


def snapshot(held: Json) -> Json:
    return {"type": "snapshot", "battle": held}


RAN = {"status": "running"}
ENDED: Json = {"status": "completed", "release_from": STARTED["release_from"], "left": RAN, "right": RAN}
OVER = battle(3, {**TURN, **ENDED})


def told_by(*messages: Json) -> tuple[View, Told]:
    told = Told()
    view = View("battle_1", ("first", "second"), told)
    for message in messages:
        view.take(json.dumps(message))
    return view, told


def test_a_page_that_is_told_everything_in_order_finds_nothing_wrong() -> None:
    view, told = told_by(snapshot(battle()), *copy.deepcopy([OPENED, STARTED, FRAMES, FINISHED]))
    assert view.battle == OVER
    assert (told.wrong, told.counts["gaps"], told.counts["ends by an event"]) == ([], 0, 1)
    assert view.ended("turn_1")
    assert not view.waits


def test_a_missing_event_is_a_gap_until_a_snapshot_repairs_it() -> None:
    view, told = told_by(snapshot(battle()), OPENED)
    assert view.take(json.dumps(FINISHED)), "it has to ask"
    assert view.waits
    assert told.counts["gaps"] == 1
    assert not view.take(json.dumps(snapshot(OVER)))
    assert (told.counts["gaps repaired"], told.counts["ends by a snapshot"]) == (1, 1)
    assert told.wrong == []


def test_names_are_found_before_the_vote_and_expected_after_it() -> None:
    named = snapshot(battle(left_model={"name": "first"}))
    _, told = told_by(named)
    assert "told names before the vote" in told.wrong[0]
    view, told = told_by(snapshot(battle()))
    view.vote_cast = True
    view.take(json.dumps(named))
    assert told.wrong == []


def test_the_battle_and_the_turns_of_somebody_else_are_found() -> None:
    _, told = told_by(snapshot(battle(battle_id="battle_2")))
    assert "another battle" in told.wrong[0]
    _, told = told_by(snapshot(battle()), {**OPENED, "turn": {**TURN, "turn_id": "turn_9"}})
    ledger = Ledger(sockets=told)
    assert complaints(ledger, Held(battles={"turn_9": "battle_1"})) == []
    assert "a turn of battle_2" in complaints(ledger, Held(battles={"turn_9": "battle_2"}))[0]


def test_who_was_cut_off_opens_a_socket_again_and_is_told_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "FIRST_RETRY_S", 0.05)
    lives = iter([[snapshot(battle()), OPENED], [snapshot(OVER)]])

    def live(socket: ServerConnection) -> None:
        for number, message in enumerate(told := next(lives)):
            socket.send(json.dumps(message))
            if number == len(told) - 1 and message["type"] == "snapshot":
                socket.recv()  # stays until the other side goes

    with page_of(live) as page:
        page.finish("turn_1", voted=False)
        page.end(time.monotonic() + 20)
    assert page.told.wrong == []
    assert page.told.counts["lost"] == page.told.counts["reopened"] == page.told.counts["told everything"] == 1


@pytest.mark.parametrize(("answers", "words"), [(True, []), (False, ["never told its turn's end"])])
def test_a_socket_that_lost_the_last_event_is_asked(
    monkeypatch: pytest.MonkeyPatch, answers: bool, words: list[str]
) -> None:
    monkeypatch.setattr(watcher, "QUIET_S", 0.2)

    def live(socket: ServerConnection) -> None:
        socket.send(json.dumps(snapshot(battle(1, TURN))))
        for asked in socket:
            assert json.loads(asked) == {"type": "snapshot"}
            if answers:
                socket.send(json.dumps(snapshot(OVER)))

    with page_of(live, polls=(200, OVER) if answers else (0, {})) as page:
        page.finish("turn_1", voted=False)
        page.end(time.monotonic() + 4)
    assert page.told.counts["asked when quiet"] >= 1
    assert len(page.told.wrong) == len(words)
    assert all(word in page.told.wrong[0] for word in words)
    assert bool(page.told.counts["given up when quiet"]) is not answers


def test_a_page_that_differs_from_a_fresh_snapshot_is_found() -> None:
    def live(socket: ServerConnection) -> None:
        socket.send(json.dumps(snapshot({**OVER, "left_model": "somebody"})))
        socket.recv()

    with page_of(live) as page:
        page.finish("turn_1", voted=False)
        page.end(time.monotonic() + 20)
    assert "a snapshot says" in page.told.wrong[0]


@contextmanager
def page_of(live: Callable[[ServerConnection], None], polls: tuple[int, Json] = (200, OVER)) -> Iterator[Watcher]:
    """A watcher of battle_1 on a server whose sockets `live`."""
    with serve(live, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.socket.getsockname()[1]}/"
        page = Watcher(url, "battle_1", "a=b", ("first", "second"), lambda: polls)
        page.start()
        try:
            yield page
        finally:
            page.close()
            page.join(20)
            server.shutdown()
