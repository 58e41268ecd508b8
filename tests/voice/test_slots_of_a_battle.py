"""Before a turn there are two calls: opened with consent, in their order, and both held."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Turn
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.voice.battles import call_both
from tests.voice.wire import Office, open_office
from voice import offered
from voice.battles import slots, sockets
from voice.models import Call, VoiceAgent


@pytest.fixture
def office(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Office:
    return open_office(monkeypatch)


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json().get("code", "")


def test_a_call_needs_consent(office: Office) -> None:
    assert told(office.call(consent=False)) == (422, "consent_missing")
    assert not Call.objects.exists()


@pytest.mark.parametrize("label", ["c", "", 7])
def test_an_unknown_label_is_refused(office: Office, label: Any) -> None:
    assert office.call(label).status_code == 422


def test_agent_a_is_called_first(office: Office) -> None:
    assert told(office.call("b")) == (409, "other_agent_first")


def test_nobody_else_opens_a_call_or_learns_of_it(office: Office) -> None:
    stranger = Visitor()
    address = f"battles/{office.battle_id}/calls"
    assert stranger.post(address, {"label": "a", "consent": True}).status_code == 404
    assert stranger.get(address).status_code == 404


def test_a_battle_of_another_kind_has_no_calls(office: Office) -> None:
    from tests.kinds.conftest import echo

    house: House = echo(pytest.MonkeyPatch())
    battle_id = house.open(office.visitor)
    assert told(office.visitor.get(f"battles/{battle_id}/calls")) == (422, "other_kind")


def test_the_turn_waits_for_both_calls(office: Office) -> None:
    sent = office.visitor.post(f"battles/{office.battle_id}/turns", {"instruction": "Haircut"})
    assert told(sent) == (409, "calls_missing")
    assert not Turn.objects.exists()
    call_both(office.battle_id)
    assert [slot["status"] for slot in office.slots()] == ["ended", "ended"]
    office.house.play(office.visitor.send(office.battle_id, "Haircut"))
    assert told(office.call()) == (409, "turns_played")


def test_an_agent_that_could_not_be_called_fails_its_side(office: Office) -> None:
    for label in ("a", "b"):
        for _ in range(slots.MOST_TRIES):
            ticket = sockets.read(office.address(label).rsplit("/", 1)[1])
            assert ticket is not None
            call = slots.claim(*ticket)
            assert call is not None
            slots.fail(call, "status 401 of Acme Voice")
    office.house.play(office.visitor.send(office.battle_id, "Haircut"))
    battle = office.visitor.battle(office.battle_id)
    assert (battle["turns"][0]["status"], battle["can_vote"]) == ("failed", False)
    assert "Acme" not in str(battle)


def test_a_ticket_is_for_one_try(office: Office) -> None:
    ticket = sockets.read(office.address().rsplit("/", 1)[1])
    assert ticket is not None
    call = slots.claim(*ticket)
    assert call is not None
    assert slots.claim(*ticket) is None
    slots.fail(call, "lost")
    assert slots.claim(*ticket) is None, "the ticket of the first try opens no second one"


def test_a_call_whose_process_ended_may_be_made_once_more(office: Office) -> None:
    ticket = sockets.read(office.address().rsplit("/", 1)[1])
    assert ticket is not None
    slots.claim(*ticket)
    assert told(office.call()) == (409, "call_running")
    Call.objects.update(heartbeat_at=timezone.now() - 2 * slots.STALE)
    assert office.call().status_code == 201
    assert office.slots()[0] == {"label": "a", "status": "open", "tries_left": 1}


def test_where_the_packages_of_speech_are_missing_the_reason_is_told(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offered, "_lacking", lambda: ("hibari-tts",))
    refused = office.call()
    assert told(refused) == (503, "voice_off")
    assert "hibari-tts not installed; run `make install-voice`" in refused.json()["detail"]
    assert office.visitor.client.get("/voice").status_code == 404


def test_the_page_may_use_the_microphone_and_the_socket_and_no_other_page_may(office: Office, settings: Any) -> None:
    settings.VOICE = {**settings.VOICE, "url": "", "port": 8765}
    page, other = office.visitor.client.get("/voice"), office.visitor.client.get("/battle")
    assert "microphone=(self)" in page["Permissions-Policy"]
    assert "connect-src 'self' ws://testserver:8765" in page["Content-Security-Policy"]
    assert "microphone=()" in other["Permissions-Policy"]
    assert "8765" not in other["Content-Security-Policy"]


def test_an_old_ticket_leads_nowhere(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = office.address().rsplit("/", 1)[1]
    monkeypatch.setattr(sockets, "VALID_S", timedelta(seconds=-1))
    assert sockets.read(ticket) is None
    assert sockets.read("made-up") is None


def test_before_the_vote_no_answer_about_the_calls_names_an_agent(office: Office) -> None:
    call_both(office.battle_id)
    answers = [office.visitor.get(f"battles/{office.battle_id}/{name}") for name in ("calls", "agent-metrics")]
    assert [answer.status_code for answer in answers] == [200, 409]
    for agent in VoiceAgent.objects.all():
        assert all(agent.name not in answer.content.decode() for answer in answers)
