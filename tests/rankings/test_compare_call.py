"""`GET /api/leaderboard/compare`: whether one model is better than another, as published."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from django.test import Client

from rankings.analysis.comparison import Comparison
from rankings.models import Report
from rankings.publication import aggregation
from simulation import catalogue
from tests.arena.test_schema import answer_schema
from tests.factories import PolicyFactory, ReferenceFactory
from tests.rankings.ballots import ballots, cast
from tests.rankings.test_report import voted

pytestmark = pytest.mark.django_db
CALL = "/api/leaderboard/compare"


def asked(client: Client, **parameters: str) -> dict[str, Any]:
    answer = client.get(CALL, parameters)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def refused(client: Client, **parameters: str) -> dict[str, Any]:
    answer = client.get(CALL, parameters)
    assert answer.status_code == 422
    found: dict[str, Any] = answer.json()
    return found


def published() -> None:
    cast(ballots(("a", "b", "left_better", 12, "v1"), ("b", "a", "left_better", 4, "v2"), ("c", "d", "tie", 5, "v3")))
    for number in range(6):
        voted(
            "left_better", left=True, right=False, battle__left_model_id="a", battle__right_model_id="b",
            user_id=f"judge-{number}",
        )  # fmt: skip
    ReferenceFactory(id="expert")
    aggregation.aggregate()


def test_it_tells_the_chance_the_record_and_physics_and_the_schema_describes_it(client: Client) -> None:
    published()
    schema: dict[str, Any] = client.get("/api/schema/", headers={"accept": "application/json"}).json()
    for task in ("", "pick", "stack"):
        found = asked(client, a="a", b="b", task=task)
        assert set(found) == set(Comparison.__annotations__)
        jsonschema.validate(found, answer_schema(schema, CALL, "get", 200))
        assert 0.5 < found["chance"] < 1
        assert found["low"] < found["difference"] < found["high"]
    pick = asked(client, a="a", b="b", task="pick")
    assert pick["record"] == {"wins": 6, "losses": 0, "ties": 0, "both_bad": 0}
    assert (pick["physics_a"]["successes"], pick["physics_b"]["successes"]) == (6, 0)
    assert asked(client, a="a", b="b")["votes"] == 22
    assert asked(client, a="a", b="b", task="stack")["votes"] == 0


def test_a_task_with_its_own_votes_is_surer_than_one_without(client: Client) -> None:
    published()
    pick, stack = (asked(client, a="a", b="b", task=task) for task in ("pick", "stack"))
    assert pick["high"] - pick["low"] < stack["high"] - stack["low"]
    assert pick["chance"] > stack["chance"]


def test_over_all_tasks_it_is_what_the_board_says(client: Client) -> None:
    published()
    rows = {row["model_id"]: row for row in client.get("/api/leaderboard").json()["rankings"]}
    found = asked(client, a="a", b="b")
    assert found["difference"] == pytest.approx(rows["a"]["elo_score"] - rows["b"]["elo_score"], abs=1.1)
    robot = asked(client, a="a", b="b", robot_id="widowx")
    assert (robot["difference"], robot["robot_id"]) == (found["difference"], "widowx")


def test_nothing_is_said_of_two_that_no_votes_connect(client: Client) -> None:
    published()
    for task in ("", "pick"):
        found = asked(client, a="a", b="c", task=task)
        assert (found["chance"], found["difference"], found["votes"]) == (None, None, 0)


def test_names_that_do_not_exist_are_refused_with_those_that_do(client: Client) -> None:
    published()
    assert refused(client, a="a", b="nobody")["code"] == "unknown_model"
    assert "b" in refused(client, a="a")["known"]
    assert "expert" not in refused(client, a="a", b="expert")["known"]
    assert refused(client, a="a", b="b", task="juggle")["known"] == sorted(
        task.id for task in catalogue.offered_tasks()
    )
    assert refused(client, a="a", b="b", robot_id="marvin")["code"] == "unknown_robot"
    assert refused(client, a="a", b="a")["code"] == "same_model"


def test_before_the_first_publication_nothing_is_known(client: Client) -> None:
    PolicyFactory(id="a")
    PolicyFactory(id="b")
    assert asked(client, a="a", b="b", task="pick")["chance"] is None


def test_a_publication_of_an_earlier_version_says_nothing(client: Client) -> None:
    published()
    report = Report.objects.get()
    for name in ("settled", "by_task", "terms"):
        report.content.pop(name)
    report.save()
    assert asked(client, a="a", b="b")["chance"] is None
    told = client.get("/api/leaderboard/report").json()
    assert (told["settled"], told["terms"]) == ({}, {})
    for page in ("/leaderboard/pairs", "/leaderboard/checks", "/leaderboard/compare?a=a&b=b"):
        assert client.get(page).status_code == 200


def test_the_report_tells_which_pairs_are_settled_and_what_terms_are_worth(client: Client) -> None:
    published()
    cast(ballots(("a", "expert", "left_better", 6, "v4")), start=500)
    aggregation.aggregate()
    told = client.get("/api/leaderboard/report").json()
    settled = told["settled"]["global"]
    assert set(settled["names"]) == {"a", "b", "c", "d"}
    assert (settled["pairs"], settled["error"]) == (2, 0.05)
    assert set(told["settled"]) == {"global", "robot=widowx"}
    equal, beyond = told["terms"]["global"]["equal"], told["terms"]["global"]["beyond"]
    assert (equal["votes"], beyond["votes"]) == (6, 6)
    assert set(equal["terms"]) == {"side", "order", "length"}
    assert set(beyond["models"]) == {"a", "b"}


def test_once_somebody_has_seen_a_publication_it_costs_one_read(client: Client, django_assert_num_queries: Any) -> None:
    published()
    asked(client, a="a", b="b")
    with django_assert_num_queries(1):
        asked(client, a="a", b="b", task="pick")
