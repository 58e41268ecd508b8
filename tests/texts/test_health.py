"""A model whose server does not answer is not drawn, says why, and comes back by itself."""

from __future__ import annotations

import pytest

from arena import kinds
from arena.models import ContestantStatus
from tests.factories import TextModelFactory
from tests.texts.conftest import Models
from tests.texts.servers import SCRIPTS, ScriptedServer
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


def test_a_server_that_does_not_list_a_model_any_more_makes_that_one_unavailable(
    model: Models, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, here = model("quick"), model("slow")
    monkeypatch.delitem(SCRIPTS, "quick")
    assert health.check_all() == 1
    gone.refresh_from_db()
    here.refresh_from_db()
    assert (gone.status, gone.status_reason) == (ContestantStatus.UNAVAILABLE, "server: it does not list quick")
    assert here.status == ContestantStatus.ACTIVE


def test_a_server_of_several_models_is_asked_once(
    model: Models, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    names = health.served_names
    monkeypatch.setattr(health, "served_names", lambda one: asked.append(one.base_url) or names(one))
    model("quick")
    model("slow")
    TextModelFactory(id="elsewhere")
    assert health.check_all() == 1
    assert sorted(asked) == sorted({server.url, TextModelFactory.build().base_url})
