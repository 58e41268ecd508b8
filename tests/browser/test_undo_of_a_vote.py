"""A vote is held for some seconds, in which it can be undone; then it is sent, also from a page that is being left."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser import pretend
from tests.browser.battle_page import PATIENCE_S, BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import AXE, violations

pytestmark = [pytest.mark.browser, pytest.mark.stack]
OPEN = "document.querySelector('[data-part=vote]').dataset.open === 'true'"
SHIPPED_S = 5.0
LONG_S = 600.0


def settled(battle: BattlePage, seconds: float) -> BattlePage:
    """A battle that can be voted on, whose page holds votes for so long."""
    pretend.undo_seconds(battle.page, seconds)
    battle.open_ready().play_turn("pick up the red cube")
    battle.wait_for(OPEN)
    return battle


def vote_on_server(battle: BattlePage) -> str | None:
    answer = battle.fetch(f"/api/battles/{battle.ask('vlaArena.battle.battle_id')}")
    return answer["vote"] and str(answer["vote"]["vote"])


def posted(battle: BattlePage) -> list[str]:
    sent: list[str] = []
    battle.page.on("request", lambda request: sent.append(str(request.post_data)) if "/votes" in request.url else None)
    return sent


def test_one_key_is_held_counted_down_and_undone_and_then_sent_after_the_seconds_that_are_shipped(
    open_page: OpenPage,
) -> None:
    battle = settled(open_page(reduced_motion="reduce"), SHIPPED_S)
    sent = posted(battle)
    battle.part("stage").focus()
    battle.page.keyboard.press("1")
    assert re.fullmatch("Left is better · sending in [1-5] s", battle.part("undo-text").inner_text())
    assert "sent in 5 seconds" in battle.part("undo-said").inner_text(), "a screen reader hears of it, once"
    assert battle.ask("document.activeElement.dataset.part") == "stage", "the focus stays"
    assert battle.page.locator("[data-vote=left_better]").get_attribute("aria-pressed") == "true"
    battle.page.keyboard.press("u")
    battle.part("undo-bar").wait_for(state="hidden")
    expect(battle.part("undo-said")).to_contain_text("Nothing was sent")
    assert vote_on_server(battle) is None
    assert sent == []
    battle.page.keyboard.press("2")
    battle.page.keyboard.press("4")  # another one replaces it, and its seconds begin anew
    assert battle.part("undo-text").inner_text().startswith("Right is better · sending in ")
    assert sent == []
    battle.wait_for("vlaArena.battle.status === 'voted'")
    assert vote_on_server(battle) == "right_better"
    assert len(sent) == 1, "what was undone or replaced would have been sent before"
    assert battle.complaints == []


def test_a_held_vote_keeps_the_rules_of_accessibility(open_page: OpenPage) -> None:
    battle = settled(open_page(bypass_csp=True, reduced_motion="reduce"), LONG_S)
    battle.part("stage").focus()
    battle.page.keyboard.press("1")
    expect(battle.part("undo-bar")).to_be_visible()
    battle.ask(AXE.read_text())
    assert violations(battle, "light") == []


def test_undo_by_click_gives_the_focus_back_and_the_reasons_stay(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    battle.part("reasons").locator("summary").click()
    battle.part("reasons").locator("input[name=safer][value=left]").check(force=True)
    battle.page.locator("[data-vote=tie]").click()
    battle.part("undo").click()
    assert battle.ask("document.activeElement.dataset.vote") == "tie"
    assert vote_on_server(battle) is None
    battle.page.locator("[data-vote=both_bad]").click()
    battle.part("send-now").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    assert battle.ask("vlaArena.battle.vote.vote") == "both_bad"
    assert battle.ask("vlaArena.battle.vote.reasons.safer") == "left"
    expect(battle.part("verdict-title")).to_be_focused()


@pytest.mark.parametrize("undone", [False, True])
def test_leaving_the_page_sends_a_held_vote_unless_it_was_undone(open_page: OpenPage, undone: bool) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    battle_id = battle.ask("vlaArena.battle.battle_id")
    battle.page.locator("[data-vote=tie]").click()
    if undone:
        battle.part("undo").click()
    battle.open("/leaderboard")
    # Playwright hears nothing of the last request of a page that is left, so the server is asked.
    deadline = time.monotonic() + PATIENCE_S
    while not undone and battle.fetch(f"/api/battles/{battle_id}")["vote"] is None:
        assert time.monotonic() < deadline, "the vote was not sent"
        battle.page.wait_for_timeout(50)
    battle.open_ready(f"/battle/{battle_id}")
    assert vote_on_server(battle) == (None if undone else "tie")


def test_an_instruction_sends_a_held_vote_first_and_opens_the_next_battle(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    first = battle.ask("vlaArena.battle.battle_id")
    battle.page.locator("[data-vote=tie]").click()
    battle.send("pick up the blue cube")
    battle.wait_for(f"vlaArena.battle?.turns.length === 1 && vlaArena.battle.battle_id !== '{first}'")
    assert battle.fetch(f"/api/battles/{first}")["vote"]["vote"] == "tie"


def test_another_battle_sends_a_held_vote_of_the_one_before(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    first = battle.ask("vlaArena.battle.battle_id")
    battle.page.locator("[data-vote=left_better]").click()
    with battle.page.expect_response("**/api/votes"):
        battle.page.get_by_role("button", name="New battle").click()
    battle.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{first}'")
    assert battle.fetch(f"/api/battles/{first}")["vote"]["vote"] == "left_better"


def test_of_two_tabs_the_first_vote_that_is_sent_counts_and_the_other_says_so(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    beside = BattlePage(battle.page.context.new_page())
    beside.open_ready(f"/battle/{battle.ask('vlaArena.battle.battle_id')}")
    beside.wait_for(OPEN)
    battle.page.locator("[data-vote=tie]").click()
    sent = posted(battle)
    beside.page.locator("[data-vote=left_better]").click()
    beside.wait_for("vlaArena.battle.status === 'voted'")
    battle.wait_for("vlaArena.battle.status === 'voted'")
    expect(battle.part("verdict-title")).to_have_text("You voted: Left is better")
    expect(battle.part("error-text")).to_contain_text("have already voted in this battle")
    assert sent == []


def test_a_vote_of_a_visitor_whose_session_has_ended_is_explained_and_the_buttons_stay(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    battle.page.locator("[data-vote=tie]").click()
    battle.page.context.clear_cookies()
    battle.part("send-now").click()
    expect(battle.part("error-text")).to_contain_text("not one of your battles")
    expect(battle.part("vote")).to_be_visible()
    expect(battle.part("undo-bar")).to_be_hidden()


def test_enter_sends_from_the_box_keeps_the_focus_there_and_draws_no_ring_round_the_stage(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.page.locator("#instruction").fill("pick up the red cube")
    battle.page.locator("#instruction").press("Enter")
    battle.wait_for("vlaArena.battle.turns.length === 1")
    battle.wait_for(OPEN)
    assert battle.ask("document.activeElement.id") == "instruction"
    ring = "getComputedStyle(document.querySelector('[data-part=stage]')).outlineStyle"
    assert battle.ask(ring) == "none"


def test_shortcuts_can_be_switched_off_and_stay_off(open_page: OpenPage) -> None:
    battle = settled(open_page(reduced_motion="reduce"), LONG_S)
    tie = battle.page.locator("[data-vote=tie]")
    assert tie.get_attribute("aria-keyshortcuts") == "2 Shift+ArrowUp"
    battle.part("stage").focus()
    battle.page.keyboard.press("?")
    sheet = battle.part("shortcuts")
    with battle.page.expect_response(re.compile("/wish$")):
        sheet.get_by_role("button", name="Shortcuts off").click()
    battle.page.keyboard.press("Escape")
    for again in (False, True):
        if again:
            battle.open_ready(battle.page.url)
            battle.wait_for(OPEN)
        battle.part("stage").focus()
        for key in ("2", "?", "/", "Shift+ArrowUp"):
            battle.page.keyboard.press(key)
        assert battle.part("undo-bar").is_hidden()
        assert sheet.is_hidden()
        assert battle.ask("document.activeElement.dataset.part") == "stage"
        expect(tie).not_to_have_attribute("aria-keyshortcuts", re.compile(""))
        expect(tie.locator("kbd")).to_be_hidden()
    footer = battle.part("shortcut-choice")
    assert footer.get_by_role("button", name="Shortcuts off").get_attribute("aria-pressed") == "true"
    footer.get_by_role("button", name="Shortcuts on").click()
    battle.part("stage").focus()
    battle.page.keyboard.press("2")
    expect(battle.part("undo-bar")).to_be_visible()
