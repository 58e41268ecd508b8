"""The analytics of operators: votes a day, pairs, latency, failures and cost, never of a battle without its vote."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena import kinds
from arena.models import Attempt
from tests.arena.conftest import Visitor
from tests.factories import TextModelFactory, VoteFactory
from tests.kinds.conftest import House, in_threads
from tests.people import logged_in, moderator, operator
from tests.texts.servers import QUICK, SCRIPTS, answers, scripted_server
from texts.models import Answer
from vlaarena.monitoring.analytics import analytics

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Two hours ago: a text battle with its vote, whose left side failed at first, and one that waits for its vote."""
    with scripted_server() as server:
        prices = {"base_url": server.url, "prompt_price": 1.0, "answer_price": 2.0}
        pair = tuple(TextModelFactory(id=f"the-{name}", served_name=name, **prices) for name in ("quick", "numbers"))
        house, visitor = House(kinds.get("text"), (pair[0], pair[1]), in_threads(kinds.get("text").play)), Visitor()
        voted = house.open(visitor)
        monkeypatch.setitem(SCRIPTS, "quick", SCRIPTS["broken"])
        house.play(visitor.send(voted, "Why?"))
        waiting = house.open(visitor)
        house.play(visitor.send(waiting, "And how?"))
        monkeypatch.setitem(SCRIPTS, "quick", answers(QUICK))
        house.play(visitor.send(voted, "Why?"))
        house.play(visitor.send(waiting, "And how?"))
        visitor.post("votes", {"battle_id": voted, "vote": "right_better"})
        Attempt.objects.update(finished_at=timezone.now() - timedelta(hours=2))
        yield voted


def of_texts(days: int = 7) -> Any:
    return analytics(kinds.get("text"), days)


def test_votes_and_battles_are_counted_by_day_and_by_pair(played: str) -> None:
    found = of_texts()
    today = found["by_day"][-1]
    assert (today["day"], len(found["by_day"])) == (timezone.now().date().isoformat(), 7)
    assert (today["battles"], today["votes"], today["counted"], today["right_better"]) == (2, 1, 1, 1)
    assert sum(row["votes"] for row in found["by_day"][:-1]) == 0
    [pair] = found["pairs"]
    assert (pair["one"], pair["other"], pair["votes"]) == ("the-numbers", "the-quick", 1)
    assert (pair["one_better"], pair["other_better"]) == (1, 0)  # it stood on the right


def test_latency_failures_and_cost_are_told_of_each_model(played: str) -> None:
    quick = next(row for row in of_texts()["models"] if row["model_id"] == "the-quick")
    assert (quick["attempts"], quick["failed"], quick["failures"]) == (2, 1, {"policy_failed": 1})
    assert quick["median_ms"] == quick["p95_ms"] > 0
    assert quick["more"]["Tokens written"] == 11
    assert quick["more"]["Cost [$]"] == pytest.approx((7 + 2 * 11) / 1e6)
    assert quick["more"]["Cost of 1000 answers [$]"] == pytest.approx(1e3 * (7 + 2 * 11) / 1e6)


def test_nothing_of_a_battle_that_waits_for_its_vote_is_in_it(played: str) -> None:
    before = of_texts()
    assert before["hidden_failures"] == {"policy_failed": 1}
    Attempt.objects.filter(turn__battle__status="ongoing").update(duration_ms=1e9)
    assert of_texts() == before


def test_nothing_of_this_hour_is_in_it(played: str) -> None:
    Attempt.objects.update(finished_at=timezone.now())
    assert (of_texts()["models"], of_texts()["hidden_failures"]) == ([], {})


def test_an_unknown_price_is_no_cost_of_nothing(played: str) -> None:
    Answer.objects.filter(attempt__model_id="the-quick").update(cost=None)
    [quick] = [row for row in of_texts()["models"] if row["model_id"] == "the-quick"]
    assert quick["more"]["Cost [$]"] is None


def test_other_kinds_and_earlier_days_are_left_out() -> None:
    VoteFactory(voted_at=timezone.now() - timedelta(days=9))
    VoteFactory()
    robots = kinds.get("robots")
    assert sum(row["votes"] for row in analytics(robots, 7)["by_day"]) == 1
    assert sum(row["votes"] for row in analytics(robots, 30)["by_day"]) == 2
    assert sum(row["votes"] for row in of_texts(30)["by_day"]) == 0


def test_the_page_shows_them_to_staff_and_the_call_tells_the_same(played: str) -> None:
    page = logged_in(operator()).get("/admin/analytics/?kind=text&days=7").content.decode()
    for shown in ("Votes a day", "the-numbers", "1 policy_failed", "First words, median [ms]", "Since "):
        assert shown in page
    told = logged_in(moderator()).get("/api/analytics?kind=text&days=7").json()
    assert [row["model_id"] for row in told["models"]] == [row["model_id"] for row in of_texts()["models"]]
    assert Client().get("/api/analytics").status_code == 403


@pytest.mark.parametrize("days", ["0", "367", "-1", "many", "9" * 30, "²"])
def test_a_span_that_is_none_is_refused_by_the_call_and_usual_on_the_page(days: str) -> None:
    staff = logged_in(operator())
    refused = staff.get("/api/analytics", {"days": days})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_days")
    assert staff.get("/admin/analytics/", {"days": days, "kind": "nope"}).status_code == 200
