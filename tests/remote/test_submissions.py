"""A researcher submits a policy, a moderator decides, a worker tries it, and its model page tells its history."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.test import Client
from kombu.exceptions import OperationalError

from people import own_data
from people.own_data import Owner
from policies.models import Policy
from rankings.models import ModerationAct
from robots import remote_trial_maker, remote_trials
from robots.models import PolicyRevision, Submission
from tests.factories import PolicyFactory
from tests.people import logged_in, moderator, operator
from tests.remote.servers import PolicyServer, serving

pytestmark = pytest.mark.django_db
LIST = "/admin/robots/submission/"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """The trials that were sent to the drawing worker."""
    sent: list[int] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: sent.extend(args))
    return sent


def form(**more: str) -> dict[str, str]:
    usual = {
        "name": "Far policy",
        "model_id": "far",
        "license": "Apache-2.0",
        "provenance": "Trained by a lab on its data",
        "url": "ws://127.0.0.1:8000",
        "contact": "someone@lab.example",
        "agreed": "on",
    }
    return usual | more


def send(client: Client | None = None, **more: str) -> Any:
    return (client or Client()).post("/submit/", form(**more))


def as_moderator() -> Client:
    return logged_in(User.objects.filter(username="moderator").first() or moderator())


def decide(act: str, *rows: Submission, reason: str = "", staff: Client | None = None) -> str:
    wish = {"action": act, "_selected_action": [row.pk for row in rows], "reason": reason}
    return str((staff or as_moderator()).post(LIST, wish, follow=True).content.decode())


def test_an_approved_server_is_tried_and_entered_and_its_page_tells_so(asked: list[int]) -> None:
    with serving(PolicyServer()) as server:
        connections = server.connections
        address = send(url=server.url)["Location"]
        assert "waiting for a moderator" in Client().get(address).content.decode()
        told = decide("approve", Submission.objects.get())
        assert "Submission far: approved" in told
        assert server.connections == connections, "the web asked the server itself"
        assert "has not tried it yet" in Client().get(address).content.decode()
        remote_trial_maker.make(*asked)
    row = Policy.objects.get(id="far")
    assert (row.name, row.license, row.status) == ("Far policy", "Apache-2.0", "active")
    assert "did what its contract says" in Client().get(address).content.decode()
    act = ModerationAct.objects.get()
    assert act.action == "approve_submission"
    page = Client().get("/models/far").content.decode()
    assert "Variants that were tried" in page
    assert "entered" in page


def test_nothing_of_the_contact_is_public(asked: list[int]) -> None:
    address = send()["Location"]
    for page in (address, "/models"):
        assert "lab.example" not in Client().get(page).content.decode()
    assert "lab.example" in as_moderator().get(LIST).content.decode()


def test_a_refusal_needs_a_reason_which_whoever_sent_it_reads(asked: list[int]) -> None:
    address = send()["Location"]
    row = Submission.objects.get()
    decide("refuse", row)
    assert Submission.objects.get().state == "waiting"
    decide("refuse", row, reason="The licence is unclear.")
    assert "The licence is unclear." in Client().get(address).content.decode()
    assert "it is refused already" in decide("approve", row)
    assert asked == []


def test_a_host_that_is_not_allowed_is_not_approved(asked: list[int]) -> None:
    send(url="ws://169.254.169.254:80")
    told = decide("approve", Submission.objects.get())
    assert "ARENA_POLICY_HOSTS" in told
    assert Submission.objects.get().state == "waiting"
    assert asked == []


def test_a_folder_is_approved_and_left_to_an_operator(asked: list[int]) -> None:
    send(url="", folder="https://lab.example/far.tar")
    told = decide("approve", Submission.objects.get())
    assert "manage.py add_policy far --weights FOLDER" in told
    assert (Submission.objects.get().state, asked) == ("approved", [])


def test_without_a_queue_the_submission_waits_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("down")

    monkeypatch.setattr(current_app, "send_task", fail)
    send()
    decide("approve", Submission.objects.get())
    row = Submission.objects.get()
    assert (row.state, row.trial) == ("waiting", None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model_id", "not an id"),
        ("model_id", "alpha"),
        ("url", "file:///etc/passwd"),
        ("folder", "https://lab.example/too"),
        ("contract", "[]"),
        ("contract", "{"),
        ("contract", json.dumps({"key_variable": "AWS_API_KEY"})),
        ("license", ""),
        ("contact", ""),
        ("agreed", ""),
        ("name", "a\0b"),
    ],
)
def test_what_makes_no_sense_is_refused_and_the_form_keeps_the_rest(field: str, value: str) -> None:
    PolicyFactory(id="alpha")
    refused = send(**{field: value})
    assert refused.status_code == 422
    assert "Trained by a lab" in refused.content.decode()
    assert not Submission.objects.exists()


def test_a_visitor_and_an_address_may_submit_a_few_only(settings: Any) -> None:
    settings.RATE_LIMITS = settings.RATE_LIMITS | {"submissions": {"address": ((2, 3600),)}}
    assert [send(model_id=f"far-{number}").status_code for number in range(3)] == [302, 302, 429]
    assert Submission.objects.count() == 2


def test_who_may_not_decide_only_looks(asked: list[int]) -> None:
    send()
    decide("approve", Submission.objects.get(), staff=logged_in(operator()))
    assert Submission.objects.get().state == "waiting"


def test_every_variant_that_was_tried_stays_on_the_pages_of_its_family_and_no_other(asked: list[int]) -> None:
    PolicyFactory(id="far-a", name="Far A")
    for name in ("b", "c", "d", "e"):
        send(model_id=f"far-{name}", name=f"Far {name.upper()}", variant_of="far-a")
    rows = {row.name: row for row in Submission.objects.all()}
    decide("approve", rows["Far B"], rows["Far C"])
    decide("refuse", rows["Far D"], reason="no")
    trials = {row.name: row.trial for row in Submission.objects.select_related("trial") if row.trial}
    remote_trials.settle(trials["Far B"], True, "")
    remote_trials.settle(trials["Far C"], False, "late")
    PolicyFactory(id="far-b", name="Far B")
    for page in ("far-a", "far-b"):
        told = Client().get(f"/models/{page}").content.decode()
        assert "far-c" in told
        assert "failed its trial" in told
        assert "far-d" not in told
        assert "far-e" not in told


def test_a_model_page_lists_the_revisions_that_it_had() -> None:
    policy = PolicyFactory(id="alpha", revision="a" * 64)
    assert "History" not in Client().get("/models/alpha").content.decode()
    policy.revision = "b" * 64
    policy.save()
    policy.retire("for a while")
    page = Client().get("/models/alpha").content.decode()
    assert re.findall(r"<code>([ab]{12})</code>", page)[-2:] == ["a" * 12, "b" * 12]
    assert PolicyRevision.objects.count() == 2


def test_own_submissions_are_exported_and_forgotten(asked: list[int]) -> None:
    Submission.objects.create(visitor="anna", **{**columns(), "model_id": "one"})
    row = Submission.objects.create(visitor="anna", **{**columns(), "model_id": "two"})
    decide("refuse", row, reason="no")
    told = json.loads("".join(own_data.export(Owner("anna"))))
    assert [each["contact"] for each in told["submissions"]] == ["someone@lab.example"] * 2
    own_data.forget(Owner("anna"))
    left = Submission.objects.get()
    assert (left.model_id, left.visitor, left.contact) == ("two", "", "(removed)")


def columns() -> dict[str, Any]:
    return {name: value for name, value in form().items() if name != "agreed"}
