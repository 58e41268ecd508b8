"""The gallery in a browser: what was voted on appears there with its pictures, and can be found."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.test_around_the_battle import vote_on

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def test_a_voted_battle_appears_with_pictures_and_is_found_by_its_words(open_page: OpenPage) -> None:
    visitor = open_page(reduced_motion="reduce")
    voted = vote_on(visitor.open_ready(), "pick up the red cube", "Left is better")
    visitor.open(f"/b/{voted}")  # enters it at once, however busy the drawing worker is
    page = visitor.open("/battles/").page
    width = "document.querySelector('main').clientWidth"
    wide = page.evaluate(width)
    card = page.locator(".card", has=page.locator(f"a[href='/b/{voted}']"))
    expect(card.locator("h2")).to_have_text("pick up the red cube")
    expect(card.get_by_text("preferred")).to_have_count(1)
    expect(card.locator("img[data-drawn]")).to_have_count(2)  # their address changes while a worker draws them
    page.get_by_label("Words in the instruction").fill("nobody said this")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("No battles match.")).to_be_visible()
    assert page.evaluate(width) == wide
    page.get_by_role("link", name="Show all").click()
    card.get_by_role("link").click()
    page.wait_for_url(f"**/b/{voted}")


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_scrolls_sideways(open_page: OpenPage, width: int) -> None:
    page = open_page(viewport={"width": width, "height": 800}).open("/battles/").page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
