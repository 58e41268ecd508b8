"""The leaderboard: boards, sorting, searching, with and without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from simulation import catalogue
from tests.browser.conftest import OpenPage
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
VOTES = """
from arena.models import Battle, Session, Vote
from policies.models import Policy
ids = list(Policy.objects.order_by("id").values_list("id", flat=True))[:3]
session = Session.objects.create(kind="robots", setting="widowx", scene="table", user_id="leaderboard-test")
pairs = [(0, 1, "left_better")] * 9 + [(0, 1, "right_better")] * 2 + [(0, 1, "tie")] * 2 + [(1, 0, "both_bad")]
pairs += [(0, 2, "left_better")] * 2 if len(ids) > 2 else []
for place, (left, right, vote) in enumerate(pairs, 1):
    battle = Battle.objects.create(session=session, seq_in_session=place, left_model_id=ids[left],
        right_model_id=ids[right], seed=place, status="voted")
    Vote.objects.create(battle=battle, session=session, user_id="leaderboard-test",
                        kind="robots", setting="widowx", scene="table",
        left_model_id=ids[left], right_model_id=ids[right], vote=vote)
Policy.objects.filter(id__in=ids).update(reference=False)
"""


@pytest.fixture(scope="module")
def ranked(site: Arena) -> Arena:
    """A board with ranked rows; the votes are entered by hand."""
    site.manage("shell", "--no-imports", "-c", VOTES)
    site.manage("rebuild_rankings")
    return site


def names(page: Page) -> list[str]:
    return page.locator("[data-part=board] > table .policy-name").all_inner_texts()


def expected(page: Page, query: str) -> list[str]:
    answer: dict[str, Any] = page.request.get(f"/api/leaderboard{query}").json()
    return [row["name"] for row in answer["rankings"]]


@pytest.mark.parametrize("sort", ["elo", "votes", "win_rate"])
@pytest.mark.parametrize("with_scripts", [True, False])
def test_rows_stand_in_the_order_that_was_asked_for(
    open_page: OpenPage, ranked: Arena, sort: str, with_scripts: bool
) -> None:
    page = open_page(java_script_enabled=with_scripts).open("/leaderboard?sort=name").page
    header = page.locator(f"[data-part=board] > table th.col-{sort}")
    header.get_by_role("link").click()
    page.locator(f"[data-part=board] > table th.col-{sort}[aria-sort=descending]").wait_for()
    assert names(page) == expected(page, f"?sort={sort}")
    assert len(names(page)) >= 2
    header.get_by_role("link").click()
    page.locator(f"[data-part=board] > table th.col-{sort}[aria-sort=ascending]").wait_for()
    assert names(page) == expected(page, f"?sort={sort}&order=asc")


def test_searching_keeps_the_focus_and_the_ranks(open_page: OpenPage, ranked: Arena) -> None:
    battle = open_page().open("/leaderboard")
    page = battle.page
    last = names(page)[-1]
    rank = page.locator("[data-part=board] > table tbody tr").last.locator(".col-rank").inner_text()
    page.get_by_role("searchbox").press_sequentially(last, delay=20)
    page.wait_for_url("**search=**")
    battle.wait_for(f"document.querySelectorAll('[data-part=board] > table tbody tr').length === {len([last])}")
    assert names(page) == [last]
    assert page.locator("[data-part=board] > table tbody .col-rank").inner_text() == rank
    assert page.get_by_role("searchbox").input_value() == last
    assert battle.ask("document.activeElement.name") == "search"
    assert battle.complaints == []


def test_a_search_without_a_match_offers_the_way_back(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard?search=nobody-of-this-name").page
    assert page.get_by_text("No ranked model matches.").is_visible()
    page.get_by_role("link", name="Show all").click()
    page.locator("[data-part=board] > table").wait_for()
    assert len(names(page)) >= 2


def test_each_robot_and_each_scene_has_a_board_beside_the_global_one(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard").page
    robots = page.get_by_role("navigation", name="Leaderboards").get_by_role("link")
    offered = dict(catalogue.offered_worlds())
    assert robots.all_inner_texts() == ["Overall", *(catalogue.robot(name).name for name in offered)]
    scenes = page.get_by_role("navigation", name="Scenes").get_by_role("link")
    assert scenes.all_inner_texts() == ["All scenes", *(scene.name for scene in catalogue.offered_scenes())]


def test_the_robots_board_keeps_the_sorting(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard?robot_id=widowx").page
    page.get_by_label("Sort by").select_option("votes")
    page.wait_for_url("**sort=votes**")
    page.locator("[data-part=board][aria-busy=false]").wait_for()
    assert "robot_id=widowx" in page.url
    assert names(page) == expected(page, "?robot_id=widowx&sort=votes")


@pytest.mark.parametrize("with_scripts", [True, False])
def test_a_task_is_chosen_on_the_page(open_page: OpenPage, ranked: Arena, with_scripts: bool) -> None:
    page = open_page(java_script_enabled=with_scripts).open("/leaderboard?robot_id=widowx&scene_id=table").page
    tasks = page.get_by_role("navigation", name="Tasks")
    tasks.get_by_role("link", name="Stack").click()
    page.wait_for_url("**task=stack**")
    page.locator("[data-part=board][aria-busy=false]").wait_for()
    assert "robot_id=widowx" in page.url.split("?")[1].split("&")
    votes = page.request.get(f"/api/leaderboard?{page.url.split('?')[1]}").json()["metadata"]["total_votes"]
    assert page.locator(".board-facts").inner_text().startswith(f"{votes} vote")
    tasks.get_by_role("link", name="All tasks").click()
    page.wait_for_url(lambda url: "task" not in url and "robot_id=widowx" in url)


def test_the_classic_rating_folds_away_until_asked_for(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard").page
    classic = page.locator("[data-part=board] > table thead .col-classic")
    assert classic.is_hidden()
    page.get_by_label("All columns").check()
    assert classic.is_visible()
    page.locator("[data-part=board] > table th.col-votes a").click()
    page.wait_for_url("**sort=votes**")
    page.locator("[data-part=board][aria-busy=false]").wait_for()
    assert classic.is_visible()


def test_organizations_filter(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard").page
    organization = page.locator("select[name=organization] option").nth(1).inner_text()
    page.get_by_label("Organization").select_option(organization)
    page.wait_for_url("**organization=**")
    page.locator("[data-part=board][aria-busy=false]").wait_for()
    assert names(page) == expected(page, f"?organization={organization}")


def test_every_rating_has_its_interval_drawn_around_it(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard").page
    rows = page.locator("[data-part=board] > table tbody tr")
    for place in range(rows.count()):
        bar, dot = rows.nth(place).locator(".interval-bar"), rows.nth(place).locator(".interval-dot")
        low, high = (float(str(bar.get_attribute(name)).rstrip("%")) for name in ("x1", "x2"))
        middle = float(str(dot.get_attribute("cx")).rstrip("%"))
        assert 0 < low < middle < high < 100


def test_an_unknown_robot_shows_the_global_board_and_says_so(open_page: OpenPage, ranked: Arena) -> None:
    page = open_page().open("/leaderboard?robot_id=toaster").page
    assert "Unknown robot" in page.get_by_role("alert").inner_text()
    assert len(names(page)) >= 2
