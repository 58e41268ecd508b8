"""`GET /api/leaderboard`: who is ranked, how the list is filtered and sorted, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from arena import kinds
from arena.models import Purpose, Vote
from arena.shapes import check
from policies.models import PolicyWorld
from rankings.api import selectors
from rankings.api.shapes import Leaderboard
from rankings.bench import time_leaderboard
from rankings.models import ModelStatsTotal
from rankings.publication import aggregation
from rankings.votes import ledger
from simulation import catalogue
from tests.factories import PolicyFactory, ReferenceFactory, SessionFactory, VoteFactory
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

TASKS = sorted(task.id for task in catalogue.offered_tasks())
CUBES = "Green block on yellow block"
ROUNDS = ballots(("a", "b", "left_better", 6), ("b", "c", "left_better", 5), ("a", "c", "both_bad", 1))


@pytest.fixture
def board(client: Client) -> Callable[..., dict[str, Any]]:
    def ask(**parameters: str) -> dict[str, Any]:
        answer = client.get("/api/leaderboard", parameters)
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    return ask


@pytest.fixture
def three_ranked() -> None:
    PolicyFactory(id="a", name="Ant", organization="Berkeley", family="octo")
    PolicyFactory(id="b", name="bee", organization="Stanford", family="film")
    PolicyFactory(id="c", name="Cat", organization="Berkeley", family="film")
    cast(ROUNDS)
    aggregation.aggregate()


def names(rows: list[dict[str, Any]]) -> list[str]:
    return [row["model_id"] for row in rows]


@pytest.mark.usefixtures("three_ranked")
def test_policies_come_by_rank_with_every_promised_field(board: Callable[..., dict[str, Any]]) -> None:
    answer = board()
    check(answer, Leaderboard)
    first = answer["rankings"][0]
    assert [(row["rank"], row["model_id"]) for row in answer["rankings"]] == [(1, "a"), (2, "b"), (3, "c")]
    assert (first["name"], first["organization"], first["license"], first["family"]) == (
        "Ant",
        "Berkeley",
        "Apache-2.0",
        "octo",
    )
    assert (first["win_count"], first["loss_count"], first["both_bad_count"], first["vote_count"]) == (6, 0, 1, 7)
    assert first["win_rate"] == 0.86
    assert first["elo_low"] == pytest.approx(first["elo_score"] - first["elo_ci"])
    assert first["elo_high"] == pytest.approx(first["elo_score"] + first["elo_ci"])
    assert answer["metadata"]["board"] == "global"
    assert answer["metadata"]["total_models"] == 3
    assert answer["metadata"]["total_votes"] == 12
    assert answer["metadata"]["minimum_votes"] == 5
    assert answer["metadata"]["last_updated"] is not None


def test_26_wins_of_42_votes_are_a_win_rate_of_062(board: Callable[..., dict[str, Any]]) -> None:
    cast(ballots(("a", "b", "left_better", 26), ("a", "b", "right_better", 10), ("a", "b", "tie", 6)))
    aggregation.aggregate()
    assert board()["rankings"][0]["win_rate"] == 0.62


def test_with_fewer_than_five_votes_a_policy_is_provisional_and_has_no_rank(
    board: Callable[..., dict[str, Any]],
) -> None:
    cast(ballots(("a", "b", "left_better", 4), ("c", "a", "left_better", 1)))
    aggregation.aggregate()
    answer = board()
    assert names(answer["rankings"]) == ["a"]
    assert sorted(names(answer["provisional"])) == ["b", "c"]
    assert {row["rank"] for row in answer["provisional"]} == {None}


def test_before_any_vote_the_contestants_are_listed_as_provisional(board: Callable[..., dict[str, Any]]) -> None:
    PolicyFactory(id="a")
    answer = board()
    check(answer, Leaderboard)
    assert answer["rankings"] == []
    (row,) = answer["provisional"]
    assert (row["elo_score"], row["vote_count"], row["win_rate"]) == (1500, 0, 0.0)
    assert row["elo_ci"] > 600
    assert answer["metadata"]["last_updated"] is None


def test_references_and_unvoted_retired_policies_are_not_listed(board: Callable[..., dict[str, Any]]) -> None:
    ReferenceFactory(id="expert")
    PolicyFactory(id="old", status="retired")
    answer = board()
    assert answer["rankings"] + answer["provisional"] == []


@pytest.mark.usefixtures("three_ranked")
def test_a_retired_policy_keeps_its_rank_and_shows_that_it_is_retired(board: Callable[..., dict[str, Any]]) -> None:
    PolicyFactory._meta.model.objects.filter(pk="a").update(status="retired")
    assert (board()["rankings"][0]["model_id"], board()["rankings"][0]["status"]) == ("a", "retired")


def test_equal_scores_share_a_rank(board: Callable[..., dict[str, Any]]) -> None:
    cast(
        ballots(("a", "b", "tie", 6), ("b", "a", "tie", 6), ("a", "c", "left_better", 3), ("b", "c", "left_better", 3))
    )
    aggregation.aggregate()
    assert [(row["rank"], row["model_id"]) for row in board()["rankings"]] == [(1, "a"), (1, "b"), (3, "c")]


@pytest.mark.usefixtures("three_ranked")
@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"sort": "elo"}, "abc"),
        ({"sort": "elo", "order": "asc"}, "cba"),
        ({"sort": "votes"}, "bac"),
        ({"sort": "votes", "order": "asc"}, "cab"),
        ({"sort": "win_rate"}, "abc"),
        ({"sort": "name"}, "abc"),
        ({"sort": "name", "order": "desc"}, "cba"),
        ({"organization": "berkeley"}, "ac"),
        ({"family": "film"}, "bc"),
        ({"search": "AN"}, "a"),
        ({"search": "nobody"}, ""),
        ({"robot_id": "widowx"}, "abc"),
        ({"scene_id": "table"}, "abc"),
        ({"robot_id": "widowx", "scene_id": "table", "organization": "Berkeley", "search": "c"}, "c"),
    ],
)
def test_the_list_is_filtered_and_sorted(
    board: Callable[..., dict[str, Any]], parameters: dict[str, str], expected: str
) -> None:
    assert names(board(**parameters)["rankings"]) == list(expected)


@pytest.mark.usefixtures("three_ranked")
def test_a_filter_changes_no_rank_and_tells_what_could_be_chosen(board: Callable[..., dict[str, Any]]) -> None:
    answer = board(search="cat")
    assert [row["rank"] for row in answer["rankings"]] == [3]
    assert answer["metadata"]["total_models"] == 3
    assert answer["metadata"]["organizations"] == ["Berkeley", "Stanford"]
    assert answer["metadata"]["families"] == ["film", "octo"]


def test_a_robots_board_counts_its_own_votes_only(board: Callable[..., dict[str, Any]]) -> None:
    cast(ballots(("a", "b", "left_better", 6)))
    cast(ballots(("b", "a", "left_better", 20)), SessionFactory(setting="franka", scene="kitchen"))
    aggregation.aggregate()
    assert names(board()["rankings"]) == ["b", "a"]
    widowx = board(robot_id="widowx")
    assert names(widowx["rankings"]) == ["a", "b"]
    assert (widowx["metadata"]["board"], widowx["metadata"]["total_votes"]) == ("widowx", 6)


@pytest.mark.parametrize(
    ("parameters", "listed"),
    [
        ({}, {"carton", "cube"}),
        ({"robot_id": "ur5e"}, {"carton"}),
        ({"scene_id": "table"}, {"cube"}),
        ({"robot_id": "widowx", "scene_id": "table"}, {"cube"}),
        ({"robot_id": "widowx", "scene_id": "cabinet"}, set()),
    ],
)
def test_a_board_lists_those_without_a_vote_that_play_there(
    board: Callable[..., dict[str, Any]], parameters: dict[str, str], listed: set[str]
) -> None:
    for name, robot_id, scene_id in (("carton", "ur5e", "warehouse"), ("cube", "widowx", "table")):
        policy = PolicyFactory(id=name, card={"robot": robot_id})
        PolicyWorld.objects.create(policy=policy, robot_id=robot_id, scene_id=scene_id)
    assert set(names(board(**parameters)["provisional"])) == listed


def test_a_scenes_board_is_of_its_votes_and_follows_the_next_aggregation(
    board: Callable[..., dict[str, Any]],
) -> None:
    cast(ballots(("a", "b", "left_better", 6)))
    cast(ballots(("b", "a", "left_better", 20)), SessionFactory(scene="kitchen"))
    aggregation.aggregate()
    assert names(board(scene_id="table")["rankings"]) == ["a", "b"]
    assert board(scene_id="table", robot_id="widowx")["metadata"]["board"] == "widowx/table"
    cast(ballots(("b", "a", "left_better", 30)), start=100)
    assert board(scene_id="table")["metadata"]["total_votes"] == 6
    aggregation.aggregate()
    assert names(board(scene_id="table")["rankings"]) == ["b", "a"]


@pytest.fixture
def two_tasks() -> None:
    """At picking, a is better than b; at stacking, in another scene, b is better than a."""
    a, b = PolicyFactory(id="a"), PolicyFactory(id="b")
    picking = (a, b, "table", "pick up the red cube")
    stacking = (b, a, "bridge_cubes", "stack the green block on the yellow block")
    for left, right, scene, instruction in [picking] * 6 + [stacking] * 8:
        pair = {"battle__left_model": left, "battle__right_model": right}
        vote = VoteFactory(battle__session=SessionFactory(scene=scene), **pair)
        vote.battle.turns.update(instruction=instruction)
    aggregation.aggregate()


@pytest.mark.usefixtures("two_tasks")
def test_what_is_no_longer_offered_keeps_its_boards_and_what_nobody_voted_on_has_none(
    board: Callable[..., dict[str, Any]], client: Client
) -> None:
    told = board()["metadata"]
    assert told["scenes"] == sorted([*catalogue.OFFERED, "bridge_cubes"])  # it has votes and is not offered
    assert told["tasks"] == sorted([*TASKS, "bridge_cubes"])
    unknown = client.get("/api/leaderboard", {"task": "bridge_spoon"})
    assert (unknown.status_code, unknown.json()["known"]) == (422, told["tasks"])


@pytest.mark.usefixtures("two_tasks")
def test_the_page_has_a_tab_for_each_scene_and_each_of_its_tasks(client: Client) -> None:
    def tabs(label: str, address: str = "") -> list[tuple[str, bool]]:
        text = client.get(f"/leaderboard{address}").content.decode()
        part = re.search(rf'<nav[^>]*aria-label="{label}">(.*?)</nav>', text, re.DOTALL)
        found = re.findall(r'<a href="[^"]*" (aria-current="true")?>([^<]*)</a>', part[1]) if part else []
        return [(name, bool(current)) for current, name in found]

    assert tabs("Scenes") == [
        ("All scenes", True),
        ("Table top", False),
        ("Workbench", False),
        ("Cabinet", False),
        (CUBES, False),
        ("Warehouse", False),
        ("Kitchen", False),
    ]
    assert tabs("Tasks") == []  # of several scenes together there is no task
    assert (CUBES, True) in tabs("Scenes", "?scene_id=bridge_cubes")
    assert tabs("Tasks", "?scene_id=bridge_cubes") == [("All tasks", True), (CUBES, False)]
    assert tabs("Tasks", "?task=bridge_cubes") == [("All tasks", False), (CUBES, True)]
    assert len(tabs("Tasks", "?scene_id=table")) == 1 + sum(catalogue.task(name).scene_id == "table" for name in TASKS)
    here = client.get("/leaderboard?scene_id=bridge_cubes&task=bridge_cubes&sort=votes").content.decode()
    assert '<a href="?sort=votes&amp;scene_id=table" >Table top</a>' in here


@pytest.mark.usefixtures("two_tasks")
@pytest.mark.parametrize(
    ("parameters", "votes", "order"),
    [
        ({}, 14, "ba"),
        ({"task": "pick"}, 6, "ab"),
        ({"task": "bridge_cubes"}, 8, "ba"),
        ({"scene_id": "bridge_cubes"}, 8, "ba"),
        ({"task": "pick", "robot_id": "widowx"}, 6, "ab"),
        ({"task": "pick", "scene_id": "table"}, 6, "ab"),
        ({"task": "bridge_cubes", "robot_id": "widowx", "scene_id": "table"}, 0, ""),
        ({"task": "stack"}, 0, ""),
    ],
)
def test_a_board_of_any_robot_scene_and_task_counts_the_votes_on_these_alone(
    board: Callable[..., dict[str, Any]], parameters: dict[str, str], votes: int, order: str
) -> None:
    found = board(**parameters)
    check(found, Leaderboard)
    asked = {"setting": "", "scene": "", "task": ""} | {
        {"robot_id": "setting", "scene_id": "scene"}.get(name, name): value for name, value in parameters.items()
    }
    assert {name: found["metadata"][name] for name in asked} == asked
    assert found["metadata"]["tasks"] == sorted([*TASKS, "bridge_cubes"])
    assert (found["metadata"]["total_votes"], names(found["rankings"])) == (votes, list(order))


def test_a_row_says_which_ranks_are_open_and_whether_it_is_provisional(
    board: Callable[..., dict[str, Any]], settings: Any
) -> None:
    settings.RANKING = {**settings.RANKING, "half_width": 250.0, "votes": 30, "opponents": 3}
    cast(ballots(("a", "b", "left_better", 26), ("a", "b", "right_better", 10), ("b", "c", "tie", 6)))
    aggregation.aggregate()
    found = board()
    rows = {row["model_id"]: row for row in found["rankings"]}
    assert [(rows[name]["rank_low"], rows[name]["rank_high"]) for name in "abc"] == [(1, 2), (2, 3), (1, 3)]
    assert [rows[name]["provisional"] for name in "abc"] == [True, False, True]  # c has six votes, a met one of two
    assert found["metadata"]["provisional_until"] == {"half_width": 250.0, "votes": 30, "opponents": 3}


def test_a_board_tells_what_the_left_side_is_worth_and_which_end_is_a_guess(
    board: Callable[..., dict[str, Any]],
) -> None:
    cast(ballots(("a", "b", "left_better", 5), ("b", "a", "right_better", 4)))
    aggregation.aggregate()
    found = board()
    side = found["metadata"]["side_advantage"]
    assert side["low"] < side["elo"] < side["high"]
    assert [row["flags"] for row in found["rankings"]] == [["no_upper_bound"], ["no_lower_bound"]]
    assert board(scene_id="table")["metadata"]["side_advantage"] == side


def test_without_a_vote_everybody_is_provisional_and_no_side_is_ahead(board: Callable[..., dict[str, Any]]) -> None:
    PolicyFactory(id="a")
    found = board()
    (row,) = found["provisional"]
    assert (row["provisional"], row["rank_low"], row["rank_high"], row["flags"]) == (True, None, None, [])
    assert found["metadata"]["side_advantage"] is None


@pytest.mark.parametrize(
    ("parameters", "code", "known"),
    [
        ({"robot_id": "r2d2"}, "unknown_robot", ["franka", "ur5e", "widowx"]),
        ({"scene_id": "moon"}, "unknown_scene", sorted(catalogue.OFFERED)),
        ({"robot_id": "widowx", "scene_id": "moon"}, "unknown_scene", ["cabinet", "table", "workbench"]),
        ({"task": "fly"}, "unknown_task", TASKS),
        ({"sort": "luck"}, "unknown_sort", ["elo", "name", "votes", "win_rate"]),
        ({"order": "sideways"}, "unknown_order", ["asc", "desc"]),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    client: Client, parameters: dict[str, str], code: str, known: list[str]
) -> None:
    answer = client.get("/api/leaderboard", parameters)
    assert answer.status_code == 422
    assert (answer.json()["code"], answer.json()["known"]) == (code, known)


@pytest.mark.usefixtures("three_ranked")
def test_votes_show_only_after_the_next_aggregation(board: Callable[..., dict[str, Any]]) -> None:
    before = board()
    cast(ballots(("c", "a", "left_better", 50)), start=100)
    assert board() == before
    aggregation.aggregate()
    assert board() != before


@pytest.mark.usefixtures("three_ranked")
@pytest.mark.parametrize("parameters", [{}, {"robot_id": "widowx"}, {"scene_id": "table"}])
def test_once_somebody_has_seen_a_publication_every_board_takes_one_query(
    client: Client, parameters: dict[str, str], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get("/api/leaderboard")
    with django_assert_num_queries(1):
        client.get("/api/leaderboard", parameters)


@pytest.mark.usefixtures("three_ranked")
def test_a_run_that_failed_has_not_updated_the_boards(
    board: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = board()["metadata"]["last_updated"]

    def broken(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(aggregation, "_store", broken)
    with pytest.raises(OSError, match="no space"):
        aggregation.aggregate()
    assert board()["metadata"]["last_updated"] == before


def test_fifty_policies_are_listed_within_50_ms(client: Client) -> None:
    for number in range(50):
        PolicyFactory(id=f"policy-{number:02}")
        ModelStatsTotal.objects.create(model_id=f"policy-{number:02}", elo_score=1400 + number, vote_count=100)
    assert len(client.get("/api/leaderboard").json()["rankings"]) == 50
    assert time_leaderboard(repeats=30).fastest_ms < 50  # whatever else the machine does


@pytest.mark.usefixtures("three_ranked")
def test_the_statistics_add_up(client: Client) -> None:
    Vote.objects.update(user_id="somebody")
    aggregation.rebuild()
    answer = client.get("/api/leaderboard/stats").json()
    assert answer.pop("last_updated") is not None
    assert answer == {
        "total_models": 3,
        "total_votes": 12,
        "total_voters": 1,
        "total_battles": 12,
        "total_sessions": 1,
        "votes_by_outcome": {"left_better": 11, "right_better": 0, "tie": 0, "both_bad": 1},
        "votes_by_robot": {"widowx": 12, "ur5e": 0, "franka": 0},
        "left_win_share": 1.0,
    }


@pytest.mark.usefixtures("two_tasks")
def test_the_statistics_count_a_robots_votes_on_every_task_once(client: Client) -> None:
    assert client.get("/api/leaderboard/stats").json()["votes_by_robot"] == {"widowx": 14, "ur5e": 0, "franka": 0}


def test_the_statistics_of_an_empty_arena_are_zeros(client: Client) -> None:
    answer = client.get("/api/leaderboard/stats").json()
    assert (answer["total_votes"], answer["left_win_share"], answer["last_updated"]) == (0, None, None)


def test_the_leaderboard_can_only_be_read(client: Client) -> None:
    answer = client.post("/api/leaderboard")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_votes_on_controls_and_excluded_votes_are_neither_on_a_scenes_board_nor_in_the_figures(
    board: Callable[..., dict[str, Any]],
) -> None:
    here = SessionFactory()
    stuffed = cast(ballots(("b", "a", "left_better", 9, "stuffer")), here)
    controls = cast(ballots(("b", "a", "left_better", 8)), here, start=100)
    Vote.objects.filter(pk__in=[vote.pk for vote in controls]).update(purpose=Purpose.GOLD)
    cast(ballots(("a", "b", "left_better", 6)), here, start=200)
    aggregation.aggregate()
    ledger.exclude_votes([vote.pk for vote in stuffed])
    aggregation.aggregate()
    found = board(scene_id="table")
    assert (found["metadata"]["total_votes"], names(found["rankings"])) == (6, ["a", "b"])
    assert selectors.statistics(kinds.default())["total_votes"] == 6


def test_the_rows_weights_make_1500_of_their_ratings() -> None:
    cast(ballots(("a", "b", "left_better", 400), ("b", "c", "left_better", 300), ("c", "d", "left_better", 20)))
    aggregation.aggregate()
    rows = selectors.leaderboard(selectors.LeaderboardQuery())["rankings"]
    assert sum(row["elo_weight"] or 0.0 for row in rows) == pytest.approx(1.0, abs=1e-3)
    assert sum((row["elo_weight"] or 0.0) * row["elo_score"] for row in rows) == pytest.approx(1500, abs=1)
    assert min(row["elo_weight"] or 0.0 for row in rows) < 0.05
