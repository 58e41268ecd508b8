"""A model whose server does not answer is not drawn, says why, and comes back by itself."""

from __future__ import annotations

from arena import kinds
from arena.models import ContestantStatus
from tests.texts.conftest import Models
from tests.texts.servers import ScriptedServer
from texts import health


def test_a_server_that_is_down_makes_its_models_unavailable_until_it_answers(
    model: Models, server: ScriptedServer
) -> None:
    one, other = model("quick"), model("slow")
    other.mark_unavailable("A moderator says so")
    server.down = True
    assert health.check_all() == 2
    one.refresh_from_db()
    assert one.status == ContestantStatus.UNAVAILABLE
    assert one.status_reason.startswith("server: status 503")
    assert not kinds.get("text").eligible(kinds.get("text").choose({})).exists()
    server.down = False
    assert health.check_all() == 0
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.status, one.status_reason) == (ContestantStatus.ACTIVE, "")
    assert other.status == ContestantStatus.UNAVAILABLE


def test_retired_models_are_not_asked(model: Models, server: ScriptedServer) -> None:
    model("quick").retire("old")
    server.down = True
    assert health.check_all() == 0
