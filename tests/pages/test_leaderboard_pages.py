"""The pages beside the leaderboard: they show what was published, say so when nothing was, and cost few reads."""

from __future__ import annotations

import csv
import gzip
import io
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from arena import kinds
from rankings.models import Report, Snapshot
from rankings.publication import aggregation
from tests import synthetic_arena
from tests.factories import PolicyFactory, SessionFactory
from tests.rankings.ballots import ballots, cast

PAGES = ("/leaderboard/physics", "/leaderboard/pairs", "/leaderboard/checks", "/leaderboard/method")
pytestmark = pytest.mark.django_db


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.mark.parametrize("address", PAGES)
def test_before_anything_was_published_every_page_says_so_or_explains(client: Client, address: str) -> None:
    text = page(client, address)
    assert 'aria-current="page"' in text
    assert "Download the vote counts" not in text


def test_pages_show_a_synthetic_arena(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    synthetic_arena.fill(votes=150, voters=20)
    aggregation.aggregate()
    board = page(client, "/leaderboard")
    assert "rank-range" in board
    assert "provisional</span>" in board
    assert "×" in board
    assert "7.5 B" in board
    physics = page(client, "/leaderboard/physics")
    assert "interval-bar" in physics
    assert "Episodes" in page(client, "/leaderboard/physics?task=pick")
    pairs = page(client, "/leaderboard/pairs")
    assert pairs.count("heat-self") == 2 * len(synthetic_arena.NAMES)
    checks = page(client, "/leaderboard/checks")
    for part in ("calibration-title", "All votes", "points apart", "Without them", "Being on the left"):
        assert part in checks
    for address in ("/leaderboard", *PAGES):
        with django_assert_num_queries(1):  # since the publication was read before
            client.get(address)


def test_the_board_of_a_task_is_chosen_on_the_page_and_keeps_the_rest_of_the_choice(client: Client) -> None:
    synthetic_arena.fill(votes=150, voters=20)
    aggregation.aggregate()
    text = page(client, "/leaderboard?task=stack&scene_id=table&sort=votes")
    assert re.search(r'<a href="\?scene_id=table&amp;sort=votes&amp;task=stack" aria-current="true">Stack</a>', text)
    assert '<a href="?scene_id=table&amp;sort=votes" >All tasks</a>' in text
    assert '<input type="hidden" name="task" value="stack">' in text
    assert '<input type="hidden" name="scene_id" value="table">' in text
    votes = client.get("/api/leaderboard?task=stack").json()["metadata"]["total_votes"]
    assert 0 < votes < 150
    assert f"{votes} votes on" in text


def test_the_page_of_an_unknown_task_shows_the_global_board_and_names_the_known_ones(client: Client) -> None:
    assert (
        f"Unknown task. Known: {', '.join(sorted(kinds.default().tasks()))}. This is the overall leaderboard."
        in page(client, "/leaderboard?task=fly")
    )


def test_a_board_explains_rank_ranges_provisional_ratings_and_the_side(client: Client, settings: Any) -> None:
    settings.RANKING = {**settings.RANKING, "half_width": 55.0, "votes": 31, "opponents": 4}
    cast(ballots(("a", "b", "left_better", 6), ("b", "a", "left_better", 5)))
    aggregation.aggregate()
    for address in ("/leaderboard", "/leaderboard?robot_id=widowx", "/leaderboard?scene_id=table"):
        text = page(client, address)
        assert "narrower than ±55 points and it has 31 votes against 4 opponents" in text
        assert "2–4 means second at best and fourth at worst" in text
        assert "Being on the left is worth" in text


def test_a_robot_without_votes_shows_no_other_boards_pairs(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 6)), SessionFactory(setting="franka", scene="kitchen"))
    aggregation.aggregate()
    assert "heat-self" in page(client, "/leaderboard/pairs")
    assert "Nobody has voted on any pair yet" in page(client, "/leaderboard/pairs?robot_id=widowx")


def test_the_matrix_shows_a_pairs_share_and_votes_and_no_reference(client: Client) -> None:
    PolicyFactory(id="expert", name="The expert", reference=True)
    cast(ballots(("a", "b", "left_better", 3), ("b", "a", "left_better", 1), ("a", "expert", "tie", 2)))
    aggregation.aggregate()
    text = page(client, "/leaderboard/pairs")
    assert '<td class="heat-8" title="4">75</td>' in text
    assert '<td class="heat-2" title="4">25</td>' in text
    assert "The expert" not in text


def test_the_counts_of_a_publication_can_be_downloaded(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 6, "somebody"), ("b", "a", "tie", 2, "else")))
    aggregation.aggregate()
    snapshot = Snapshot.objects.get()
    address = f"/leaderboard/counts/{snapshot.input_hash}.csv.gz"
    assert address in page(client, "/leaderboard")
    answer = client.get(address)
    assert "immutable" in answer["Cache-Control"]
    text = gzip.decompress(answer.content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert sum(int(row["left_better"]) for row in rows) == 6
    assert "somebody" not in text


@pytest.mark.parametrize("name", ["0" * 64, "nothing"])
def test_counts_that_were_never_published_are_not_found(client: Client, name: str) -> None:
    assert client.get(f"/leaderboard/counts/{name}.csv.gz").status_code == 404


def test_the_method_names_the_limits_that_hold(client: Client, settings: Any) -> None:
    settings.RANKING = {**settings.RANKING, "cap": 17, "half_width": 55.0}
    text = page(client, "/leaderboard/method")
    assert "±55 points" in text
    assert "as much as 17 votes" in text
    assert "Liang and Zeger 1986" in text


def test_groups_that_never_met_are_told(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 6), ("c", "d", "left_better", 6)))
    aggregation.aggregate()
    assert "groups that have never met" in page(client, "/leaderboard")


@pytest.mark.parametrize("complete", [True, False])
def test_the_page_says_whether_some_voters_were_only_estimated(client: Client, complete: bool) -> None:
    cast(ballots(*(("a", "b", "left_better", 2, f"v{number}") for number in range(8))))
    aggregation.aggregate()
    report = Report.objects.get()
    report.content["removal"] |= {"movers": 3, "looked_at": 400, "complete": complete}
    report.save()
    checks = page(client, "/leaderboard/checks")
    assert "To find that, 400 voters were left out" in checks
    assert ("for the rest this is an estimate" in checks) is not complete
