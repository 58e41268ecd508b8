"""The replay of a game of Snake in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import AXE, VIOLATIONS

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


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_scrolls_sideways(open_page: OpenPage, width: int) -> None:
    page = open_replay(open_page, viewport={"width": width, "height": 800})
    replay = page.url
    for address in (replay, "/wormarena/", "/wormarena/games", "/wormarena/pairs"):
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
        f"{site}/wormarena/pairs",
        f"{site}{model}",
    ):
        page.goto(address)
        page.evaluate(AXE.read_text())
        assert page.evaluate(VIOLATIONS, {}) == [], address
