"""Where a site does not offer text (any more) no battle of it begins, and what was played stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from arena.queue import hosting
from rankings.publication import aggregation
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import QUICK

Houses = Callable[[str, str], House]


@pytest.fixture
def without_text(settings: Any) -> Callable[[], None]:
    def turn_off() -> None:
        settings.KINDS = ["robots"]

    return turn_off


@pytest.mark.django_db
def test_neither_page_nor_navigation_nor_session_leads_there(client: Client, without_text: Callable[[], None]) -> None:
    without_text()
    assert client.get("/text").status_code == 404
    for page in ("/", "/leaderboard", "/battle"):
        assert 'href="/text"' not in client.get(page).content.decode()
    for address, body in (("sessions/init", {"kind": "text"}), ("arena/battle", {"message": "Why?"})):
        refused = client.post(f"/api/{address}", body, content_type="application/json")
        assert refused.status_code == 422
        assert refused.json()["code"] == "unknown_kind"
        assert "text" not in refused.json()["known"]
        assert "robots" in refused.json()["known"]


def test_workers_do_not_play_it(house: Houses, without_text: Callable[[], None]) -> None:
    pair = {contestant.id for contestant in house("quick", "slow").pair}
    assert pair <= {each.id for each in hosting.hosted()}
    without_text()
    assert not pair & {each.id for each in hosting.hosted()}


def test_battles_votes_and_boards_of_before_stay(
    house: Houses, visitor: Visitor, client: Client, without_text: Callable[[], None]
) -> None:
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    houses.play(turn := visitor.send(battle_id, "Why is the sky blue?"))
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"}).status_code == 201
    without_text()
    assert visitor.get(f"episodes/{turn['left_episode_id']}").json()["text"].strip() == QUICK
    assert client.get(f"/b/{battle_id}").status_code == 200
    assert client.get("/battles/").status_code == 200
    aggregation.aggregate()
    call_command("rebuild_rankings", check=True)
    board = client.get("/leaderboard?kind=text").content.decode()
    assert "the-quick" in board or houses.pair[0].name in board
