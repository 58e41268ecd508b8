"""Games of Snake in a browser: replays, games while they are played, and files that operators hand in."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import AXE, VIOLATIONS
from tests.stack import Arena
from tests.wormarena.files import changed, game

pytestmark = [pytest.mark.browser, pytest.mark.stack]
BOARD = "document.querySelector('[data-part=board]').outerHTML"


def open_replay(open_page: OpenPage, **options: object) -> Page:
    page: Page = open_page(**options).open("/wormarena/games").page
    page.locator("a.worm-game").last.click()
    expect(page.locator("[data-part=controls]")).to_be_visible()
    return page


def test_a_replay_plays_steps_jumps_and_is_shared(open_page: OpenPage) -> None:
    page = open_replay(open_page, reduced_motion="reduce")
    moment = page.locator("[data-part=round]")
    expect(moment).to_have_text("Start")
    page.keyboard.press("ArrowRight")
    expect(moment).to_contain_text("Round 0 of")
    assert page.locator("[data-slot='0'] [data-part=reason]").inner_text() != ""
    before = page.evaluate(BOARD)
    page.keyboard.press("ArrowRight")
    assert page.evaluate(BOARD) != before
    page.keyboard.press("d")
    decisive = moment.inner_text()
    page.get_by_role("button", name="Copy link").click()
    shared = page.url
    assert "round=" in shared
    page.goto(shared)
    expect(moment).to_have_text(decisive)
    page.locator("[data-part=scrub]").fill("0")
    page.locator("[data-part=speed]").select_option("8")
    page.get_by_role("button", name="Play").click()
    expect(moment).not_to_have_text("Start")
    page.get_by_role("button", name="Pause").click()


def test_deaths_are_marked_where_they_happen(open_page: OpenPage) -> None:
    page = open_replay(open_page)
    page.goto(f"{page.url.split('/games')[0]}/games")
    links = page.locator("a.worm-game").evaluate_all("links => links.map((link) => link.href)")
    for link in links:
        page.goto(link)
        expect(page.locator("[data-part=controls]")).to_be_visible()
        if page.locator(".worm-mark").count():
            break
    page.keyboard.press("d")
    assert page.locator(".worm-death").count() > 0


def test_a_game_is_shown_while_it_is_played_and_then_leads_to_its_replay(open_page: OpenPage, site: Arena) -> None:
    page = open_page().open("/wormarena/live").page
    expect(page.get_by_text("No game is being played at the moment.")).to_be_visible()
    played = ("play_snake", "greedy", "random", "--pace-s", "0.5", "--rounds", "30", "--seed", "1")
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(site.manage, *played)
        expect(page.locator("[data-part=round]")).to_contain_text("Round")
        expect(page.locator(".worm-live .worm-head")).to_have_count(2)
        first = page.locator("[data-part=round]").inner_text()
        expect(page.locator("[data-part=round]")).not_to_have_text(first)
        expect(page.locator("[data-slot='0'] [data-part=reason]")).not_to_be_empty()
        done.result()
    expect(page.locator("[data-part=round]")).to_contain_text("Ended after round")
    page.get_by_role("link", name="Replay").click()
    expect(page.locator("[data-part=controls]")).to_be_visible()


def test_an_operator_hands_files_in_and_learns_what_came_of_each(
    open_page: OpenPage, site: Arena, tmp_path: Path
) -> None:
    make = "from django.contrib.auth.models import User; User.objects.create_superuser('boss', '', 'secret word 7')"
    site.manage("shell", "-v", "0", "-c", make)
    page = open_page().open("/admin/login/?next=/admin/wormarena/game/hand-in/").page
    page.get_by_label("Username").fill("boss")
    page.get_by_label("Password").fill("secret word 7")
    page.get_by_role("button", name="Log in").click()
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(game("handed-in")))
    bad.write_text(json.dumps(changed(game("bad"), "players.0.result", "drawn")))
    page.get_by_label("Files").set_input_files([good, bad])
    page.get_by_role("button", name="Hand in").click()
    outcomes = page.locator("[data-part=outcomes] li")
    expect(outcomes.nth(0)).to_have_text("good.json: handed in as handed-in")
    expect(outcomes.nth(1)).to_contain_text("bad.json: players.0.result: 'drawn'; known are won, lost, tied")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_scrolls_sideways(open_page: OpenPage, width: int) -> None:
    page = open_replay(open_page, viewport={"width": width, "height": 800})
    replay = page.url
    for address in (replay, "/wormarena/", "/wormarena/games", "/wormarena/live", "/wormarena/pairs"):
        page.goto(page.url.split("/wormarena")[0] + address if address.startswith("/") else address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule_of_axe(open_page: OpenPage, scheme: str) -> None:
    page = open_replay(open_page, color_scheme=scheme, bypass_csp=True)
    site, replay = page.url.split("/wormarena")[0], page.url
    model = "/wormarena/model?name=greedy%20(reference%20player)"
    for address in (
        replay,
        f"{site}/wormarena/",
        f"{site}/wormarena/games",
        f"{site}/wormarena/live",
        f"{site}/wormarena/pairs",
        f"{site}{model}",
    ):
        page.goto(address)
        page.evaluate(AXE.read_text())
        assert page.evaluate(VIOLATIONS, {}) == [], address
