"""An operator names a server in the admin; a worker tries it, and its outcome stands there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from celery import current_app
from django.test import Client
from kombu.exceptions import OperationalError

from policies.models import Policy
from robots import remote_trial_maker, remote_trials
from robots.models import RemoteTrial
from tests.people import logged_in, operator
from tests.remote.servers import PolicyServer, answers, serving

pytestmark = pytest.mark.django_db
ADD = "/admin/robots/remotetrial/add/"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """The trials that were sent to the drawing worker."""
    sent: list[int] = []

    def send(name: str, args: list[int], queue: str, **_: Any) -> None:
        assert (name, queue) == (remote_trials.TRY, settings.DRAWINGS_QUEUE)
        sent.extend(args)

    monkeypatch.setattr(current_app, "send_task", send)
    return sent


@pytest.fixture
def staff() -> Client:
    return logged_in(operator())


def form(url: str, **more: str) -> dict[str, str]:
    return {"model_id": "far", "url": url, "key_variable": "", "contract": "{}", **more}


def test_a_server_is_tried_by_a_worker_and_entered(staff: Client, asked: list[int]) -> None:
    with serving(PolicyServer()) as server:
        connections = server.connections
        assert staff.post(ADD, form(server.url)).status_code == 302
        assert server.connections == connections, "the web asked the server itself"
        assert "a worker tries it" in staff.get("/admin/robots/remotetrial/").content.decode()
        remote_trial_maker.make(*asked)
        remote_trial_maker.make(*asked)  # a message that comes twice
    row = Policy.objects.get(id="far")
    assert (row.adapter, row.status, row.model_path) == ("remote", "active", server.url)
    shown = staff.get(f"/admin/robots/remotetrial/{asked[0]}/change/").content.decode()
    assert "ms an inference" in shown
    assert "entered" in shown


def test_what_a_server_does_wrong_is_told_to_who_named_it(staff: Client, asked: list[int]) -> None:
    with serving(PolicyServer(answers(np.zeros((4, 8))))) as server:
        staff.post(ADD, form(server.url))
        remote_trial_maker.make(*asked)
    assert not Policy.objects.exists()
    trial = RemoteTrial.objects.get()
    assert (trial.entered, trial.asked_by.username if trial.asked_by else "") == (False, "operator")
    assert "expected [4, 7]" in staff.get("/admin/robots/remotetrial/").content.decode()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"url": "ws://gpu-3:8000"}, "is not in ARENA_POLICY_HOSTS"),
        ({"url": "ftp://127.0.0.1"}, "is no address such as"),
        ({"key_variable": "ARENA_SECRET_KEY"}, "ends in _API_KEY"),
        ({"contract": "[1]"}, "A JSON object"),
        ({"contract": "{"}, "Enter a valid JSON"),
        ({"model_id": "no id"}, "valid “slug”"),
    ],
    ids=str,
)
def test_what_needs_no_connection_is_refused_at_once(
    wrong: dict[str, str], said: str, staff: Client, asked: list[int]
) -> None:
    answer = staff.post(ADD, form("ws://127.0.0.1:1") | wrong)
    assert said in answer.content.decode()
    assert not RemoteTrial.objects.exists()
    assert not asked


def test_without_a_queue_the_row_says_so(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any, **__: Any) -> None:
        raise OperationalError("down")

    monkeypatch.setattr(current_app, "send_task", down)
    staff.post(ADD, form("ws://127.0.0.1:1"))
    assert RemoteTrial.objects.get().outcome.startswith("The queue is down")
