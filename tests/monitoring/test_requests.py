"""Every request has an id of its own, a line in the log, and is counted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from prometheus_client import REGISTRY

from arena.visitors.cookies import COOKIE
from tests.monitoring.conftest import Lines

pytestmark = pytest.mark.django_db  # a page that is not found asks whether there are games of Snake
ID = re.compile(r"req_[0-9a-f]{32}")


def test_an_answer_bears_an_id_of_its_own(client: Client) -> None:
    ids = [client.get("/api/robots").headers["X-Request-Id"] for _ in range(2)]

    assert all(ID.fullmatch(each) for each in ids)
    assert ids[0] != ids[1]


def test_an_id_that_is_brought_along_is_not_taken_over(client: Client) -> None:
    answer = client.get("/api/robots", headers={"X-Request-Id": "req_" + "0" * 32})

    assert answer.headers["X-Request-Id"] != "req_" + "0" * 32


def test_its_line_bears_the_same_id_and_what_was_asked(client: Client, logged: Lines) -> None:
    answer = client.get("/api/robots")

    line = next(line for line in logged() if line["logger"] == "vlaarena.monitoring.requests")
    assert line["event"] == "GET /api/robots 200"
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert line["route"] == "api/robots"
    assert line["ms"] > 0


def test_lines_name_the_battle_and_neither_cookie_nor_address_nor_query(client: Client, logged: Lines) -> None:
    client.cookies[COOKIE] = "a-voter's-cookie"
    battle_id = "battle_" + "0" * 32
    client.get(f"/api/battles/{battle_id}?search=secret", REMOTE_ADDR="203.0.113.77")

    lines = [line for line in logged() if "api/battles" in line["event"]]
    assert lines
    assert all(line["battle_id"] == battle_id for line in lines)
    assert not [word for word in ("voter", "203.0.113", "secret") if word in str(logged())]


def test_an_id_that_cannot_be_one_of_ours_is_not_bound(client: Client, logged: Lines) -> None:
    client.get("/api/battles/%1b[31m")

    assert all("battle_id" not in line for line in logged())


def test_a_request_for_a_host_that_is_not_ours_leaves_a_line_and_no_traceback(
    client: Client, settings: Any, logged: Lines
) -> None:
    settings.ALLOWED_HOSTS = ["arena.example"]
    assert client.get("/leaderboard", headers={"Host": "elsewhere.example"}).status_code == 400

    told = [line for line in logged() if line["logger"].startswith("django.security")]
    assert ["elsewhere.example" in line["event"] for line in told] == [True]
    assert "exception" not in told[0]


def test_who_asks_for_health_or_figures_all_the_time_leaves_no_lines(client: Client, logged: Lines) -> None:
    client.get("/api/health/live")
    client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.1"})

    assert logged() == []


def test_requests_are_counted_by_route_method_and_status(client: Client) -> None:
    labels = {"route": "api/scenes/<slug:robot_id>/<slug:scene_id>", "method": "POST", "status": "405"}
    before = REGISTRY.get_sample_value("arena_requests_total", labels) or 0.0

    client.post("/api/scenes/widowx/table/")
    client.post("/api/scenes/another/table")

    assert REGISTRY.get_sample_value("arena_requests_total", labels) == before + 2


def test_methods_and_addresses_that_somebody_makes_up_make_no_new_series(client: Client) -> None:
    client.generic("BREW", "/one-made-up-address")

    assert REGISTRY.get_sample_value("arena_requests_total", {"route": "nowhere", "method": "other", "status": "404"})
    assert "made-up" not in str([sample for metric in REGISTRY.collect() for sample in metric.samples])
