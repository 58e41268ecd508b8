"""Policies that never met, even through others, are put in no order: by no call, no page, no command, no list."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from arena.shapes import check
from rankings.api.selectors import ranks_within
from rankings.api.shapes import Leaderboard
from rankings.fit.ratings import Options, board_ratings
from rankings.fit.standings import unvoted
from rankings.publication import aggregation
from rankings.tally.counts import tally
from tests.factories import PolicyFactory, ReferenceFactory, SessionFactory, VoteFactory
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

FEW = (("a", "b", "left_better", 6, "v1"), ("b", "c", "left_better", 5, "v2"))
MANY = (("d", "e", "left_better", 20, "v3"), ("d", "e", "tie", 10, "v4"))
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: Client) -> Ask:
    def answer(**parameters: str) -> dict[str, Any]:
        return dict(client.get("/api/leaderboard", parameters).json())

    return answer


@pytest.fixture
def apart() -> None:
    """d and e with thirty votes, a, b and c with eleven, and nobody has met both; f has no vote."""
    cast(ballots(*FEW, *MANY))
    PolicyFactory(id="f")
    aggregation.aggregate()


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


def places(answer: dict[str, Any]) -> list[tuple[str, int | None, int | None]]:
    rows = [*answer["rankings"], *answer["provisional"]]
    return [(row["model_id"], row.get("component"), row["rank"]) for row in rows]


@pytest.mark.usefixtures("apart")
def test_each_component_has_ranks_of_its_own_and_the_one_with_most_votes_comes_first(ask: Ask) -> None:
    answer = ask()
    assert places(answer) == [("d", 1, 1), ("e", 1, 2), ("a", 2, 1), ("b", 2, 2), ("c", 2, 3), ("f", None, None)]
    check(answer, Leaderboard)
    assert [(each["component"], each["models"], each["votes"]) for each in answer["metadata"]["components"]] == [
        (1, 2, 30),
        (2, 3, 11),
    ]


@pytest.mark.usefixtures("apart")
def test_a_sort_by_rating_turns_each_component_and_not_their_sequence(ask: Ask) -> None:
    assert [place[0] for place in places(ask(sort="elo", order="asc"))][:5] == ["e", "d", "c", "b", "a"]
    assert [place[0] for place in places(ask(sort="name"))][:5] == ["a", "b", "c", "d", "e"]
    assert [place[0] for place in places(ask(sort="votes"))][:2] == ["d", "e"]


def test_boards_of_a_robot_or_a_scene_have_components_of_their_own(ask: Ask) -> None:
    cast(ballots(("a", "b", "left_better", 8), ("c", "d", "left_better", 6)))
    cast(ballots(("b", "c", "left_better", 9)), SessionFactory(setting="franka", scene="kitchen"))
    aggregation.aggregate()
    assert {component for _, component, _ in places(ask())} == {1}
    for filters in ({"robot_id": "widowx"}, {"scene_id": "table"}, {"robot_id": "widowx", "scene_id": "table"}):
        assert places(ask(**filters)) == [("a", 1, 1), ("b", 1, 2), ("c", 2, 1), ("d", 2, 2)]


def test_components_are_counted_among_contestants(ask: Ask) -> None:
    ReferenceFactory(id="expert")
    ReferenceFactory(id="still")
    cast(ballots(("expert", "still", "left_better", 50), *FEW))
    aggregation.aggregate()
    assert places(ask()) == [("a", 1, 1), ("b", 1, 2), ("c", 1, 3)]


def test_equal_whole_scores_share_a_rank_unless_votes_settle_their_order() -> None:
    board = [replace(unvoted(name), elo_score=score, vote_count=50) for name, score in (("a", 1510), ("b", 1510))]
    open_, settled = ({"a": (1, 2), "b": (1, 2)}, {"a": (1, 1), "b": (2, 2)})
    for ranges, expected in ((open_, {"a": 1, "b": 1}), (settled, {"a": 1, "b": 2})):
        rows: Any = {name: {"rank_low": low, "rank_high": high} for name, (low, high) in ranges.items()}
        assert ranks_within(board, {"a": 1, "b": 1}, rows) == expected


def test_rank_ranges_are_within_a_component() -> None:
    found = board_ratings(tally(ballots(*FEW, *MANY)), Options())
    assert found["components"] == [["d", "e"], ["a", "b", "c"]]
    rows = found["models"]
    assert [rows[name]["component"] for name in "abcde"] == [2, 2, 2, 1, 1]
    assert max(row["rank_high"] or 0 for name, row in rows.items() if name in "de") == 2
    assert max(row["rank_high"] or 0 for name, row in rows.items() if name in "abc") == 3


def test_the_command_shows_each_group_by_itself(tmp_path: Path) -> None:
    path, out = tmp_path / "votes.csv", StringIO()
    votes = ballots(*FEW, *MANY)
    lines = [f"{n},{each.voter},widowx,{each.left},{each.right},{each.outcome}" for n, each in enumerate(votes)]
    path.write_text("\n".join(["battle_id,voter_id,robot,left,right,vote", *lines]) + "\n", encoding="utf-8")
    call_command("rate", str(path), stdout=out)
    shown = [
        line.split()[0] if not line.startswith("  group") else line.strip() for line in out.getvalue().split("\n")[1:8]
    ]
    assert shown == ["group 1: 2 policies", "d", "e", "group 2: 3 policies", "a", "b", "c"]


@pytest.mark.usefixtures("apart")
def test_the_page_shows_a_table_for_each_group_and_says_why(client: Client) -> None:
    text = page(client, "/leaderboard")
    assert "between groups there is no order" in text
    sections = text.split('<section class="component"')[1:]
    assert [re.findall(r'data-model="(\w)"', section.split("</section>")[0]) for section in sections] == [
        ["d", "e"],
        ["a", "b", "c"],
    ]
    assert [re.findall(r'col-rank">(\d|–)', section.split("</section>")[0]) for section in sections] == [
        ["1", "2"],
        ["1", "2", "3"],
    ]


@pytest.mark.usefixtures("apart")
def test_a_page_that_mixes_groups_shows_no_rank(client: Client) -> None:
    text = page(client, "/leaderboard?sort=name")
    assert set(re.findall(r'<td class="col-rank">([^<]*)', text)) == {"–"}
    assert "no ranks are shown here" in text
    assert 'class="badge">group 2<' in text


@pytest.mark.usefixtures("apart")
def test_lines_over_time_are_drawn_by_group(client: Client) -> None:
    cast(ballots(*MANY), start=1000)
    aggregation.aggregate()
    text = page(client, "/leaderboard")
    figures = text.split('class="trend"')[1:]
    assert [len(re.findall("<polyline", figure)) for figure in figures] == [2, 3]


@pytest.mark.usefixtures("apart")
def test_the_first_page_names_the_leaders_of_one_group(client: Client) -> None:
    text = page(client, "/")
    leaders = re.findall(r'<li value="(\d)"><a href="/models/(\w)"', text)
    assert leaders == [("1", "d"), ("2", "e")]
    assert "others have never met them" in text


@pytest.mark.usefixtures("apart")
def test_the_list_of_policies_goes_group_by_group(client: Client) -> None:
    text = page(client, "/models")
    assert re.findall(r'<h2><a href="/models/(\w)"', text) == ["d", "e", "a", "b", "c", "f"]
    assert "between groups there is no order" in text
    assert "group 2" in page(client, "/models/a")
    assert "hold within its group" in page(client, "/models/a")


@pytest.mark.usefixtures("apart")
def test_head_to_head_goes_group_by_group_and_numbers_each(client: Client) -> None:
    matrix = client.get("/api/leaderboard/report").json()["matrices"]["global"]
    assert (matrix["names"], matrix["components"]) == (["d", "e", "a", "b", "c"], [1, 1, 2, 2, 2])
    text = page(client, "/leaderboard/pairs")
    assert re.findall(r'heat-number">([\d.]+)', text)[:5] == ["1.1", "1.2", "2.1", "2.2", "2.3"]


@pytest.mark.usefixtures("apart")
def test_checks_compare_policies_of_one_group(client: Client) -> None:
    handovers = client.get("/api/leaderboard/report").json()["influence"]["handovers"]
    assert [(each["upper"], each["lower"]) for each in handovers] == [("d", "e")]
    table = page(client, "/leaderboard/checks").split('id="shadow"')[1]
    assert re.findall(r'<th scope="(?:row|rowgroup)"[^>]*>([^<]+)', table) == [
        "Group 1", "D", "E", "Group 2", "A", "B", "C",
    ]  # fmt: skip


def test_ratings_with_all_else_equal_go_group_by_group(client: Client) -> None:
    for left, right, votes in (("d", "e", 12), ("a", "b", 6)):
        pair = {f"battle__{side}_model": PolicyFactory(id=name) for side, name in (("left", left), ("right", right))}
        for _ in range(votes):
            VoteFactory(**pair)
    aggregation.aggregate()
    table = page(client, "/leaderboard/checks").split("Ratings with all else equal")[1]
    assert re.findall(r'<th scope="(?:row|rowgroup)"[^>]*>([^<]+)', table) == ["Group 1", "D", "E", "Group 2", "A", "B"]


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("table", ["modelstatstotal", "modelstatsbyrobot"])
def test_the_admin_lists_policies_by_name_and_does_not_sort_by_rating(admin_client: Client, table: str) -> None:
    text = page(admin_client, reverse(f"admin:rankings_{table}_changelist"))
    assert re.findall(r'class="field-model[^"]*"><a[^>]*>(\w)<', text) == list("ABCDE")
    assert not re.search(r"sortable column-elo_score", text)
    assert re.search(r"sortable column-vote_count", text)


def test_where_all_have_met_nothing_is_said_of_groups(client: Client) -> None:
    cast(ballots(*FEW))
    aggregation.aggregate()
    for address in ("/leaderboard", "/leaderboard/pairs", "/leaderboard/checks", "/models", "/models/a", "/"):
        assert not re.search(r"[Gg]roups? (\d|that)", page(client, address))
