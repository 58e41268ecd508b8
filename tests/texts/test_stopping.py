"""A visitor who stops a turn stops both servers, and nothing of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from arena.models import Attempt, AttemptStatus
from arena.store import get_store
from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House
from tests.stack import wait_until
from tests.texts.servers import ScriptedServer


@pytest.mark.parametrize("script", ["trickles", "silent"])
def test_a_stopped_turn_closes_the_streams_and_stores_no_answer(
    script: str, house: Callable[[str, str], House], visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house(script, "quick")
    turn = visitor.send(houses.open(visitor), "Go on")
    playing = threading.Thread(target=houses.work, args=(turn,))
    playing.start()
    wait_until(lambda: script in [request["model"] for request in server.requests], 30)
    assert visitor.post(f"turns/{turn['turn_id']}/cancel").status_code == 200
    playing.join(30)
    assert not playing.is_alive()
    assert server.closed_early.wait(10)
    assert get_store().get(turn["left_episode_id"]) is None
    assert {attempt.length for attempt in Attempt.objects.all()} == {0}
    assert {attempt.status for attempt in Attempt.objects.all()} == {AttemptStatus.FAILED}
    assert {attempt.termination_reason for attempt in Attempt.objects.all()} == {"cancelled"}
    assert visitor.get(f"episodes/{turn[f'{SIDES[1]}_episode_id']}").status_code == 404
