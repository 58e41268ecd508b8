"""When the server takes no more for now, the page says so, keeps what was typed, and lets one try again."""

from __future__ import annotations

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.pretend import refuse

pytestmark = [pytest.mark.browser, pytest.mark.stack]
FULL = "Forty turns are waiting already. Send it again in about two minutes."
INSTRUCTION = "pick up the red cube"


def assert_told(battle: BattlePage, text: str) -> None:
    battle.part("error").wait_for(state="visible")
    assert battle.part("error-text").inner_text() == text


def test_a_refused_instruction_is_explained_kept_and_can_be_sent_again(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    for status, code in ((503, "of_tomorrow"), (429, "of_next_week")):
        battle.page.route("**/turns", refuse(status, code, FULL))
        battle.send(INSTRUCTION)
        assert_told(battle, FULL)
        assert battle.part("send").get_attribute("aria-disabled") == "false"
        assert battle.page.locator("#instruction").input_value() == INSTRUCTION
        battle.page.unroute("**/turns")
    battle.part("send").click()
    battle.wait_for("vlaArena.battle.turns.length === 1")
    assert battle.part("error").is_hidden()


def test_an_instruction_that_is_too_long_stays_whole_and_the_form_names_the_limit(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    long = "lift the cube " * 20
    battle.page.locator("#instruction").fill(long)
    battle.part("send").click()
    told = battle.page.locator("#instruction").evaluate("input => input.validationMessage")
    assert told.startswith("An instruction has at most 16 words.")
    assert battle.page.locator("#instruction").input_value() == long
    assert battle.ask("vlaArena.battle?.turns?.length ?? 0") == 0
    battle.page.locator("#instruction").fill(INSTRUCTION)
    assert battle.page.locator("#instruction").evaluate("input => input.validationMessage") == ""


def test_who_sends_too_much_reads_when_to_try_again(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.page.route("**/turns", refuse(429, "throttled", "At most 5 turns.", **{"Retry-After": "40"}))
    battle.send(INSTRUCTION)
    assert_told(battle, "That was a lot in a short time. Try again in 40 s.")


def test_a_refused_vote_leaves_the_buttons_open_and_the_reasons_chosen(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn(INSTRUCTION)
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.part("reasons").locator("summary").click()
    battle.part("reasons").locator("input[name=safer][value=equal]").check(force=True)
    battle.page.route("**/api/votes", refuse(429, "of_tomorrow", FULL))
    battle.page.get_by_role("button", name="Tie").click()
    assert_told(battle, FULL)
    assert battle.ask("vlaArena.battle.status") == "ongoing"
    battle.page.unroute("**/api/votes")
    battle.page.get_by_role("button", name="Tie").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    assert battle.ask("vlaArena.battle.vote.reasons.safer") == "equal"


def test_a_next_battle_that_cannot_be_opened_keeps_the_old_one_and_the_instruction(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn(INSTRUCTION)
    battle.page.get_by_role("button", name="Tie").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    voted = battle.ask("vlaArena.battle.battle_id")
    battle.page.route("**/api/sessions/*/battles", refuse(503, "no_contestants"))
    battle.send(INSTRUCTION)
    assert_told(battle, "Fewer than two models are ready to compete. Try again later.")
    assert battle.ask("vlaArena.battle.battle_id") == voted
    assert battle.page.locator("#instruction").input_value() == INSTRUCTION
