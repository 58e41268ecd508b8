"""A visitor who stops a turn stops both servers, and nothing of it is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable

from arena.models import Attempt, AttemptStatus
from arena.store import get_store
from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House
from tests.stack import wait_until
from tests.texts.servers import ScriptedServer


def test_a_stopped_turn_closes_the_streams_and_stores_no_answer(
    house: Callable[[str, str], House], visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("trickles", "quick")
    turn = visitor.send(houses.open(visitor), "Go on")
    playing = threading.Thread(target=houses.work, args=(turn,))
    playing.start()
    left = Attempt.objects.filter(episode_id=turn["left_episode_id"])
    wait_until(lambda: left.filter(length__gt=0).exists(), 30)
    assert visitor.post(f"turns/{turn['turn_id']}/cancel").status_code == 200
    playing.join(30)
    assert not playing.is_alive()
    assert server.closed_early.wait(10)
    assert get_store().get(turn["left_episode_id"]) is None
    assert {attempt.status for attempt in Attempt.objects.all()} == {AttemptStatus.FAILED}
    assert {attempt.termination_reason for attempt in Attempt.objects.all()} == {"cancelled"}
    assert visitor.get(f"episodes/{turn[f'{SIDES[1]}_episode_id']}").status_code == 404
