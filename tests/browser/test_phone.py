"""The battle page on a phone, upright and on its side, and every page on the smallest."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.tour import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.stack]

UPRIGHT: ViewportSize = {"width": 390, "height": 844}
ON_ITS_SIDE: ViewportSize = {"width": 844, "height": 390}
SMALL: ViewportSize = {"width": 320, "height": 568}
PHONES = pytest.mark.parametrize("phone", [UPRIGHT, ON_ITS_SIDE, SMALL], ids=["upright", "on-its-side", "small"])
PICTURE = "[data-viewer={}] canvas"
BOX = """(selector) => {
  const { top, left, right, bottom } = document.querySelector(selector).getBoundingClientRect();
  return { top, left, right, bottom };
}"""
TOO_WIDE = "document.documentElement.scrollWidth > window.innerWidth"

Box = dict[str, float]


def box(page: BattlePage, selector: str) -> Box:
    found: Box = page.ask(BOX, selector)
    return found


def in_view(shown: Box, phone: ViewportSize) -> bool:
    return (
        shown["top"] >= 0
        and shown["left"] >= 0
        and shown["right"] <= phone["width"]
        and shown["bottom"] <= phone["height"]
        and shown["right"] > shown["left"]
    )


def check_pictures(battle: BattlePage, phone: ViewportSize) -> None:
    """Both are whole, side by side, as large as each other, and the left one is on the left."""
    left, right = (box(battle, PICTURE.format(side)) for side in ("left", "right"))
    assert in_view(left, phone)
    assert in_view(right, phone)
    assert left["right"] <= right["left"]
    assert (left["top"], left["bottom"]) == pytest.approx((right["top"], right["bottom"]), abs=1)


def check_vote_bar(battle: BattlePage, phone: ViewportSize) -> None:
    for vote in ("left_better", "tie", "both_bad", "right_better"):
        assert in_view(box(battle, f"[data-vote={vote}]"), phone), vote


@PHONES
def test_at_the_start_both_pictures_the_box_and_send_are_in_view(open_page: OpenPage, phone: ViewportSize) -> None:
    battle = open_page(viewport=phone, has_touch=True).open_ready()
    assert battle.ask("window.scrollY") == 0
    check_pictures(battle, phone)
    if phone != SMALL:  # there one scrolls to Send
        assert in_view(box(battle, "[data-part=send]"), phone)
    assert in_view(box(battle, "#instruction"), phone)
    assert not battle.ask(TOO_WIDE)


@PHONES
def test_while_voting_the_vote_bar_stays_beside_whole_pictures_and_tools_are_folded(
    open_page: OpenPage, phone: ViewportSize
) -> None:
    battle = open_page(viewport=phone, has_touch=True, reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.ask("window.scrollTo(0, 0)")
    check_vote_bar(battle, phone)
    if phone != SMALL:
        check_pictures(battle, phone)
        assert box(battle, "[data-part=vote]")["top"] >= box(battle, PICTURE.format("left"))["bottom"]
    battle.ask("document.querySelector('[data-part=stage]').scrollIntoView()")
    check_vote_bar(battle, phone)
    check_pictures(battle, phone)
    assert box(battle, "[data-part=vote]")["top"] >= box(battle, PICTURE.format("left"))["bottom"]
    assert box(battle, "[data-vote=left_better]")["right"] <= box(battle, "[data-vote=right_better]")["left"]
    tools = battle.part("tools")
    expect(battle.part("camera")).to_be_hidden()
    tools.locator("> summary").tap()
    expect(battle.part("camera")).to_be_visible()
    assert not battle.ask(TOO_WIDE)


def test_on_a_wide_screen_the_tools_are_open_without_a_fold(open_page: OpenPage) -> None:
    battle = open_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    expect(battle.part("camera")).to_be_visible()
    expect(battle.part("tools").locator("> summary")).to_be_hidden()


@pytest.mark.parametrize("language", ["en", "de"])
def test_at_320_pixels_no_page_scrolls_sideways(open_page: OpenPage, policies: list[Any], language: str) -> None:
    page = open_page(viewport=SMALL, locale=language, reduced_motion="reduce")
    model = f"/models/{policies[0]['model_id']}"
    wide = [path for path in (*PAGES.values(), model, "/api/docs/", "/admin/login/") if _is_wide(page, path)]
    assert wide == []


def _is_wide(page: BattlePage, path: str) -> bool:
    page.open(path)
    page.page.wait_for_load_state("networkidle")
    return bool(page.ask(TOO_WIDE))


@pytest.mark.parametrize("language", ["en", "de"])
def test_at_320_pixels_the_account_stays_in_the_header(open_page: OpenPage, language: str) -> None:
    page = open_page(viewport=SMALL, locale=language).open("/about/")
    assert in_view(box(page, ".header-account svg"), SMALL)


def test_at_320_pixels_a_voted_battle_does_not_scroll_sideways(open_page: OpenPage) -> None:
    battle = open_page(viewport=SMALL, locale="de", reduced_motion="reduce").open_ready()
    battle.play_turn("put the red cube on the left plate")
    assert not battle.ask(TOO_WIDE)
    battle.vote("left_better")
    assert not battle.ask(TOO_WIDE)
    battle.part("feedback").locator("summary").click()
    assert battle.page.locator("[name=left-progress]").is_visible()
    assert not battle.ask(TOO_WIDE)
    battle.open(f"/b/{battle.ask('vlaArena.battle.battle_id')}").wait_for("Boolean(window.vlaArena?.ready)")
    assert not battle.ask(TOO_WIDE)
