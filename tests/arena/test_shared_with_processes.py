"""What a worker opens before it forks, so that its processes share the memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from arena import kinds
from arena.models import Contestant
from arena.queue import hosting, worker
from tests.factories import PolicyFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(worker.gc, "freeze", lambda: told.append("frozen"))
    monkeypatch.setattr(worker.connection, "close", lambda: told.append("closed"))
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))
    return told


def test_each_kind_gets_those_that_its_processes_will_open_and_then_all_is_frozen(
    monkeypatch: pytest.MonkeyPatch, frozen: list[str]
) -> None:
    PolicyFactory(id="still", adapter="still")
    PolicyFactory(id="retired", adapter="still", status="retired")
    PolicyFactory(id="elsewhere", adapter="still")
    monkeypatch.setattr(hosting, "is_hosted_here", lambda model_id: model_id != "elsewhere")

    def share(_self: Any, contestants: Sequence[Contestant]) -> None:
        frozen.append(",".join(each.id for each in contestants))

    monkeypatch.setattr(type(kinds.get("robots")), "share", share)
    worker.share_with_processes()
    assert frozen == ["still", "closed", "frozen"]


def test_a_kind_that_fails_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, frozen: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    def share(_self: Any, contestants: Sequence[Contestant]) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(type(kinds.get("robots")), "share", share)
    worker.share_with_processes()
    assert frozen == ["closed", "frozen"]
    assert "Nothing more is shared" in caplog.text


def test_a_worker_goes_on_announcing_what_it_hosts_while_it_opens_it_and_forks_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    announced, before = threading.Semaphore(0), threading.enumerate()
    monkeypatch.setattr(hosting, "ANNOUNCE_S", 0.01)
    monkeypatch.setattr(hosting, "announce", announced.release)
    monkeypatch.setattr(worker.gc, "freeze", lambda: told.append(threading.enumerate() == before))
    told: list[bool] = []

    def share(_self: Any, contestants: Sequence[Contestant]) -> None:
        told.extend(announced.acquire(timeout=30) for _ in range(3))

    monkeypatch.setattr(type(kinds.get("robots")), "share", share)
    worker.share_with_processes()
    assert told == [True] * 4
