"""Studies, forks and tokens in a browser: what a researcher does after signing in, and what axe says of these pages."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import broken_in
from tests.browser.test_accounts import LOOKS, Window, narrow
from tests.browser.test_after_vote import SETTLED, voted
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def signed_in(window: Window, address: str) -> None:
    window.ask_for_code("/account/signup/", address)
    window.enter_code(address)
    window.wait_for_heading("Your profile")


def fill(window: Window, seeds: int) -> None:
    page = window.page
    page.get_by_label("Policy A").select_option("film-base")
    page.get_by_label("Policy B").select_option("film-tenth")
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    page.get_by_label("Pick up").check()
    page.get_by_label("Seeds per task").fill(str(seeds))
    window.press("Ask for it")


def test_a_researcher_asks_for_a_study_and_reads_its_report(browser: Browser, site: Arena) -> None:
    window = Window(browser, site)
    signed_in(window, "researcher@example.org")
    window.page.get_by_role("link", name="Compare two policies").click()
    window.wait_for_heading("Studies")
    fill(window, 2)
    window.page.locator("[data-part=study]").wait_for()
    expect(window.page.get_by_role("link", name="Report")).to_be_visible()  # the page has loaded itself anew
    expect(window.page.locator("[data-part=study-count]")).to_have_text("2")
    window.page.get_by_role("link", name="Report").click()
    slider = window.page.get_by_role("slider").first
    shown = "() => [...document.querySelectorAll('.replay img')].findIndex((image) => !image.hidden)"
    before = window.page.evaluate(shown)
    slider.focus()
    window.page.keyboard.press("End")
    assert window.page.evaluate(shown) != before
    window.page.go_back()
    window.page.get_by_text("Delete", exact=True).click()
    window.press("Delete it")
    window.page.get_by_text("None yet.").wait_for()
    window.context.close()
    assert window.errors == []


def test_a_study_is_cancelled_and_gone_on_with(browser: Browser, site: Arena) -> None:
    window = Window(browser, site)
    signed_in(window, "patient@example.org")
    window.open("/studies/")
    fill(window, 400)
    window.press("Cancel")
    expect(window.page.locator("label[for=study-pairs]")).to_have_text("cancelled")
    window.press("Go on")
    expect(window.page.get_by_role("button", name="Cancel")).to_be_visible()
    window.press("Cancel")
    window.context.close()
    assert window.errors == []


def test_pages_of_studies_and_tokens_keep_the_rules_of_accessibility(browser: Browser, site: Arena) -> None:
    window = Window(browser, site, strict=False)
    broken: dict[str, list[Any]] = {}

    def look(name: str) -> None:
        broken.update(broken_in(BattlePage(window.page), name, LOOKS))
        narrow(window.page, name)

    window.open("/studies/")
    look("welcome")
    signed_in(window, "axe-studies@example.org")
    window.open("/studies/")
    look("form")
    fill(window, 501)
    window.page.evaluate("document.querySelector('form.study-form').noValidate = true")
    window.press("Ask for it")
    window.page.locator(".errorlist").first.wait_for()
    look("wrong form")
    fill(window, 1)
    expect(window.page.get_by_role("link", name="Report")).to_be_visible()
    look("ended")
    window.page.get_by_role("link", name="Report").click()
    look("report")
    window.open("/studies/")
    look("list")
    window.open("/profile/tokens/")
    look("tokens")
    window.page.get_by_label("Name, for you").fill("my script")
    window.page.get_by_label("studies: ask for studies").check()
    window.press("Create")
    window.page.locator("[data-part=token]").wait_for()
    look("a new token")
    window.context.close()
    assert broken == {}


def test_what_if_lets_other_policies_play_and_moves_a_thing(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce", bypass_csp=True)
    battle_id = voted(battle)
    battle.wait_for(SETTLED)
    battle.page.get_by_text("Change more").click()
    left = battle.part("explore-left")
    expect(left.locator("option[value=film-tenth]")).to_have_count(1)
    left.select_option("film-tenth")
    assert battle.part("explore-x").is_disabled()
    battle.part("explore-thing").select_option("red_cube")
    battle.part("explore-x").fill("90")
    battle.part("other-seed").click()
    assert battle.ask("vlaArena.battle.turns.length") == 1, "out of reach: the browser says so"
    battle.part("explore-x").fill("35")
    battle.part("explore-y").fill("-10")
    battle.part("explore-turn").fill("90")
    broken = broken_in(battle, "what if", LOOKS)
    battle.part("other-seed").click()
    battle.wait_for("vlaArena.battle.turns.length === 2 && vlaArena.battle.can_explore")
    told = battle.ask("vlaArena.battle.turns[1].exploration")
    assert told["left_model_id"] == "film-tenth"
    assert told["right_model_id"] is None
    x, y, turn = told["moved"]["red_cube"]
    assert (x, y, round(turn, 3)) == (0.35, -0.1, 1.571)
    assert left.input_value() == ""
    assert "left: film-tenth" in battle.part("exploration-note").inner_text()
    battle.part("explore-tree").click()
    battle.page.locator(".fork-tree li").nth(1).wait_for()
    assert battle_id in battle.page.url
    assert "red_cube" in battle.page.locator(".fork-tree li").nth(1).inner_text()
    broken |= broken_in(battle, "tree of forks", LOOKS)
    narrow(battle.page, "tree of forks")
    assert broken == {}
