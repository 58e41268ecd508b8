"""A board over robots says what it is the mean of: each robot's share, and who was voted on on some robots only."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from rankings.fit.ratings import Options, board_ratings, fitted
from rankings.fit.shares import MeanOver, mean_over
from rankings.publication import aggregation
from rankings.tally.counts import Counts, tally
from tests.factories import SessionFactory
from tests.rankings.ballots import ballots, cast

PAIR = ballots(("a", "b", "left_better", 60), ("b", "a", "left_better", 30))
OTHER = ballots(("a", "b", "left_better", 100), ("b", "a", "left_better", 140))


def on(robot: str, votes: list[Any], times: int = 1) -> list[Any]:
    return [vote._replace(setting=robot) for vote in votes] * times


def shares(counts: Counts, *robots: str) -> MeanOver:
    fit = fitted(counts, Options())
    return mean_over(counts, robots, board_ratings(counts, Options(), fit)["components"], fit)


def difference(votes: list[Any]) -> float:
    rows = board_ratings(tally(votes), Options())["models"]
    return rows["a"]["rating"] - rows["b"]["rating"]


def test_the_rating_of_two_policies_is_the_mean_by_the_told_shares() -> None:
    one, other = on("one", PAIR), on("other", OTHER)
    found = shares(tally([*one, *other]), "one", "other")["robots"][0]
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["other"] > found["one"] > 0.3
    mean = found["one"] * difference(one) + found["other"] * difference(other)
    assert difference([*one, *other]) == pytest.approx(mean, abs=0.1)


def test_votes_without_end_on_one_robot_weigh_no_more_than_much_evidence_on_another() -> None:
    found = shares(tally([*on("one", PAIR, 10), *on("other", OTHER, 100)]), "one", "other")["robots"][0]
    assert 0.4 < found["one"] < 0.5
    few = shares(tally([*on("one", PAIR[:5]), *on("other", OTHER, 100)]), "one", "other")["robots"][0]
    assert few["one"] < 0.2


def test_with_one_robot_it_is_that_robots_board() -> None:
    assert shares(tally(on("one", PAIR)), "one") == {"robots": [{"one": 1.0}], "played_on": {}}
    assert shares(tally([])) == {"robots": [], "played_on": {}}


def test_who_was_voted_on_on_some_robots_only_is_named() -> None:
    late = ballots(("c", "a", "left_better", 9))
    found = shares(tally([*on("one", PAIR), *on("other", OTHER), *on("other", late)]), "one", "other")
    assert found["played_on"] == {"c": ["other"]}


def test_each_component_has_shares_of_its_own() -> None:
    apart = ballots(("c", "d", "tie", 12))
    found = shares(tally([*on("one", PAIR), *on("other", apart)]), "one", "other")
    assert found == {"robots": [{"one": 1.0}, {"other": 1.0}], "played_on": {}}


def test_votes_that_all_say_the_same_leave_shares_that_are_numbers() -> None:
    one_sided = ballots(("c", "d", "left_better", 500))
    votes = [*on("one", one_sided, 40), *on("other", one_sided, 40), *on("one", PAIR), *on("other", OTHER)]
    for found in shares(tally(votes), "one", "other")["robots"]:
        assert sum(found.values()) == pytest.approx(1.0, abs=1e-3)
        assert min(found.values()) > 0.3


@pytest.fixture
def two_robots(db: None) -> None:
    cast([*PAIR, *ballots(("c", "a", "left_better", 9))])
    cast(OTHER, SessionFactory(setting="franka", scene="kitchen"), start=1000)
    aggregation.aggregate()


@pytest.mark.usefixtures("two_robots")
def test_the_call_tells_the_shares_and_the_robots_of_each_policy(client: Client) -> None:
    answer = client.get("/api/leaderboard").json()
    (component,) = answer["metadata"]["components"]
    told = {each["robot_id"]: each["share"] for each in component["robots"]}
    assert set(told) == {"franka", "widowx"}
    assert sum(told.values()) == pytest.approx(1.0, abs=1e-3)
    assert {row["model_id"]: row["robots"] for row in answer["rankings"]} == {
        "a": ["franka", "widowx"],
        "b": ["franka", "widowx"],
        "c": ["widowx"],
    }
    (alone,) = client.get("/api/leaderboard", {"robot_id": "widowx"}).json()["metadata"]["components"]
    assert alone["robots"] == [{"robot_id": "widowx", "share": 1.0}]


@pytest.mark.usefixtures("two_robots")
def test_the_page_says_what_it_is_the_mean_of(client: Client) -> None:
    text = client.get("/leaderboard").content.decode()
    assert "the mean of what a model can do on several robots" in text
    assert "WidowX 250s (" in text
    assert text.count("WidowX 250s only") == 1
    assert "several robots" not in client.get("/leaderboard?robot_id=widowx").content.decode()


@pytest.mark.django_db
def test_with_one_robot_the_page_says_whose_board_it_is(client: Client) -> None:
    cast(PAIR)
    aggregation.aggregate()
    assert "on WidowX 250s: this is its leaderboard" in client.get("/leaderboard").content.decode()
