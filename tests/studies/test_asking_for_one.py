"""Asking for a study on its page and by the API: for accounts alone, with a token of the scope studies for programs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from people.tokens import PLAY, READ, STUDIES
from studies import queueing
from studies.models import Study
from tests.people.conftest import Person, _own_channel_layer, account_of  # noqa: F401 - a fixture
from tests.people.test_tokens import Program, said, token_of
from tests.studies.conftest import Queue

pytestmark = pytest.mark.django_db(transaction=True)
WANTED = {"a": "good", "b": "bad", "tasks": ["pick"], "seeds": 1}
FORM = {**WANTED, "world": "widowx/table", "first_seed": 0, "margin": 0}


@pytest.fixture
def person(policies: list[Any], queue: Queue) -> Person:
    made = Person()
    made.sign_up()
    return made


def test_whoever_is_not_signed_in_is_shown_where_to_sign_in(queue: Queue, db: None) -> None:
    client = Client()
    assert b"/account/login/" in client.get("/studies/").content
    assert client.post("/studies/", FORM).status_code == 403
    assert said(client.get("/api/studies")) == (401, "sign_in_first")
    assert said(client.post("/api/studies", WANTED, "application/json")) == (401, "sign_in_first")


def test_a_study_is_asked_for_on_the_page_and_its_report_found_there(person: Person, queue: Queue) -> None:
    asked = person.page("/studies/", **FORM)
    row = Study.objects.get()
    assert asked.redirect_chain == [(f"/studies/{row.study_id}", 302)]
    assert "waiting" in asked.content.decode()
    assert row.owner == account_of(person).user
    queue.play()
    page = person.page(f"/studies/{row.study_id}").content.decode()
    assert "1/1" in page
    report = person.client.get(f"/studies/{row.study_id}/report")
    assert b"data:image/webp;base64," in report.content
    policy = report["Content-Security-Policy"]
    assert "sandbox allow-scripts" in policy
    assert "default-src 'none'" in policy
    assert row.study_id in person.page("/studies/").content.decode()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"b": "good"}, "Choose two different policies."),
        ({"a": "nobody"}, "Select a valid choice."),
        ({"tasks": []}, "This field is required."),
        ({"seeds": 501}, "Ensure this value is less than or equal to 500."),
        ({"seeds": 251, "tasks": ["pick", "place"]}, "that is 250 seeds per task"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(changes: dict[str, Any], told: str, person: Person) -> None:
    refused = person.client.post("/studies/", {**FORM, **changes})
    assert refused.status_code == 422
    assert told in refused.content.decode()


def test_a_limit_is_told_on_the_page(person: Person, settings: Any) -> None:
    settings.STUDIES = {**settings.STUDIES, "open": 1}
    person.client.post("/studies/", FORM)
    refused = person.client.post("/studies/", FORM)
    assert refused.status_code == 409
    assert "Cancel or delete one first" in refused.content.decode()


def test_whoever_knows_the_address_reads_and_the_owner_alone_changes(person: Person, queue: Queue) -> None:
    person.page("/studies/", **FORM)
    address = f"/studies/{Study.objects.get().study_id}"
    other = Person(address="eve@example.org")
    other.sign_up()
    for stranger in (Client(), other.client):
        seen = stranger.get(address)
        assert seen.status_code == 200
        assert not re.search(r'action="[^"]*/(cancel|resume|delete)"', seen.content.decode())
        assert {stranger.post(f"{address}/{act}").status_code for act in ("cancel", "resume", "delete")} == {404}
    assert b"eve@" not in person.client.get(address).content
    assert other.client.get(f"/studies/study_{'0' * 32}").status_code == 404
    assert person.client.post(f"{address}/cancel").status_code == 302
    assert person.client.post(f"{address}/cancel").status_code == 409
    assert person.client.post(f"{address}/resume").status_code == 302
    assert person.client.post(f"{address}/delete").status_code == 302
    assert person.client.get(address).status_code == 404


def test_a_program_asks_follows_cancels_resumes_and_deletes(person: Person, queue: Queue) -> None:
    program = Program(token_of(person, STUDIES))
    asked = program.post("studies", WANTED)
    assert asked.status_code == 201, asked.content
    study = asked.json()
    address = f"studies/{study['study_id']}"
    assert (study["state"], study["planned"], study["waiting_before"]) == ("waiting", 1, 0)
    assert program.post(f"{address}/cancel", {}).json()["state"] == "cancelled"
    assert said(program.post(f"{address}/cancel", {})) == (409, "study_closed")
    assert program.post(f"{address}/resume", {}).json()["state"] == "waiting"
    assert said(program.post(f"{address}/resume", {})) == (409, "not_resumable")
    queueing.tend()
    queue.play()
    ended = program.get(address).json()
    assert (ended["state"], ended["told"]["outcomes"]["only_a"]) == ("completed", 1)
    assert Client().get(ended["report_url"]).status_code == 200
    assert [row["study_id"] for row in program.get("studies").json()["results"]] == [study["study_id"]]
    assert program.client.delete(f"/api/{address}").status_code == 204
    assert said(program.get(address)) == (404, "not_found")


def test_a_token_needs_the_scope_and_that_one_does_nothing_else(person: Person) -> None:
    for scope in (READ, PLAY):
        refused = Program(token_of(person, scope)).post("studies", WANTED)
        assert said(refused) == (403, "scope_missing")
        assert refused.json()["needed"] == STUDIES
        assert Program(token_of(person, scope)).get("studies").status_code == 200
    studying = Program(token_of(person, STUDIES))
    assert said(studying.post("sessions/init", {})) == (403, "scope_missing")
    assert said(studying.get("sessions/")) == (403, "scope_missing")
    assert said(studying.get("studiesque")) == (403, "scope_missing")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid"),
        ({**WANTED, "seeds": "many"}, 422, "invalid"),
        ({**WANTED, "tasks": "pick"}, 422, "invalid"),
        ({**WANTED, "a": ["good"]}, 422, "invalid"),
        ({**WANTED, "margin": "NaN"}, 422, "invalid"),
        ({**WANTED, "a": "nobody"}, 422, "unknown_model"),
        ({**WANTED, "scene_id": "moon"}, 422, "unknown_world"),
        ({**WANTED, "tasks": ["fly"]}, 422, "unknown_task"),
    ],
)
def test_a_wrong_call_is_refused(body: dict[str, Any], status: int, code: str, person: Person) -> None:
    assert said(Program(token_of(person, STUDIES)).post("studies", body)) == (status, code)
    assert not Study.objects.exists()


def test_it_is_told_in_german(person: Person) -> None:
    page = person.client.get("/studies/", headers={"Accept-Language": "de"}).content.decode()
    assert "Studien" in page
