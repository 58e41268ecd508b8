"""The Python client's calls, without a network: what is sent, and what a refusal becomes."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from django.core.wsgi import get_wsgi_application

from vla_arena import Arena, Battle, Conflict, Invalid, NotAllowed, NotFound

pytestmark = pytest.mark.django_db
URL = "http://localhost"


def arena_here(token: str = "") -> Arena:
    arena = Arena(URL, token)
    arena._http.close()
    transport = httpx2.WSGITransport(app=get_wsgi_application())
    arena._http = httpx2.Client(base_url=f"{URL}/api/", headers=arena._headers, transport=transport)
    return arena


@pytest.fixture
def arena(contestants: None) -> Iterator[Arena]:
    with arena_here() as opened:
        yield opened


def test_a_battle_is_opened_and_seen_by_its_visitor_alone(arena: Arena) -> None:
    battle = arena.open_battle(robot_id="widowx", scene_id="table")
    assert battle.snapshot()["left_model"] == "???"
    assert arena.sessions()[0]["session_id"] == battle.session_id
    assert arena.next_battle(battle.session_id).battle_id != battle.battle_id
    with arena_here() as other, pytest.raises(NotFound) as refused:
        Battle(other, battle.session_id, battle.battle_id).snapshot()
    assert (refused.value.code, refused.value.status) == ("not_found", 404)


def test_refusals_have_their_code_and_details(arena: Arena) -> None:
    battle = arena.open_battle()
    with pytest.raises(Invalid) as unknown:
        battle.vote("best")  # type: ignore[arg-type]
    assert unknown.value.code == "invalid_vote"
    assert "tie" in unknown.value.details["known"]
    with pytest.raises(Conflict, match="no_completed_turn"):
        battle.vote("tie")
    with arena_here("arena_nonsense") as nobody, pytest.raises(NotAllowed, match="token_invalid"):
        nobody.sessions()
