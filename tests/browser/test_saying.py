"""The instruction box: how many words are left, a random task, instructions by category, and long ones shown whole."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from simulation import catalogue
from simulation.catalogue import task_for
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3
NARROW = {"viewport": {"width": 320, "height": 700}}
WIDER_THAN_THE_WINDOW = "document.querySelector('main').scrollWidth > document.documentElement.clientWidth"


def check_left(battle: BattlePage, told: str) -> None:
    expect(battle.part("words-left")).to_have_text(told)


def check_read_out(battle: BattlePage, told: str) -> None:
    expect(battle.part("words-left-said")).to_have_text(told)


def test_the_box_tells_how_many_words_are_left_and_reads_it_out_only_near_the_end(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    box = battle.page.locator("#instruction")
    check_left(battle, "16 words left")
    box.press_sequentially("lift the red cube")
    check_left(battle, "12 words left")
    check_read_out(battle, "")
    box.fill("lift the red cube " * 3 + "at last now")
    check_left(battle, "1 word left")
    check_read_out(battle, "1 word left")
    assert "words-left" in (box.get_attribute("aria-describedby") or "")


def test_too_many_words_are_told_at_once_and_not_sent(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    box = battle.page.locator("#instruction")
    box.fill("lift the red cube " * 4 + "right now")
    check_left(battle, "2 words too many")
    expect(box).to_have_attribute("aria-invalid", "true")
    battle.part("send").click()
    told = box.evaluate("input => input.validationMessage")
    assert told == "An instruction has at most 16 words. Please shorten it; your text is kept."
    assert battle.ask("vlaArena.battle?.turns?.length ?? 0") == 0
    box.fill("lift the red cube")
    assert (box.evaluate("input => input.validationMessage"), box.get_attribute("aria-invalid")) == ("", "false")


def test_a_random_task_fills_the_box_with_another_judged_one_each_time(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.part("random").focus()
    said = []
    for _ in range(6):
        battle.part("random").press("Enter")
        said.append(battle.page.locator("#instruction").input_value())
        assert battle.ask("document.activeElement.id") == "instruction"
    assert None not in [task_for(text) for text in said]
    assert all(one != other for one, other in pairwise(said))
    expect(battle.part("words-left")).not_to_have_text("16 words left")


def test_free_instructions_are_a_category_that_says_who_judges_them(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    free = battle.page.locator(".category[data-free]")
    free.locator("summary").focus()
    battle.page.keyboard.press("Enter")
    expect(free).to_contain_text("only people judge them")
    assert free.locator(".chip").all_inner_texts() == list(catalogue.scene("table").free_suggestions)
    battle.page.keyboard.press("Tab")
    battle.page.keyboard.press("Enter")
    expect(battle.page.locator("#instruction")).to_have_value(catalogue.scene("table").free_suggestions[0])
    expect(free).not_to_have_attribute("open", re.compile(""))


def test_a_long_word_widens_nothing_and_a_long_headline_shows_two_lines_until_asked_for_all(
    open_page: OpenPage,
) -> None:
    battle = open_page(reduced_motion="reduce", **NARROW).open_ready()
    battle.page.locator(".category > summary").last.click()
    assert not battle.ask(WIDER_THAN_THE_WINDOW)
    battle.play_turn(LONG_WORD)
    headline, more = battle.part("headline"), battle.part("headline-more")
    expect(headline).to_have_text(LONG_WORD)
    expect(headline).to_have_attribute("title", LONG_WORD)
    assert not battle.ask(WIDER_THAN_THE_WINDOW)
    lines = "h => Math.round(h.clientHeight / parseFloat(getComputedStyle(h).lineHeight))"
    assert headline.evaluate(lines) == 2
    more.click()
    expect(more).to_have_attribute("aria-expanded", "true")
    assert headline.evaluate("h => h.scrollHeight <= h.clientHeight + 1")
    assert headline.evaluate(lines) > 2
    assert not battle.ask(WIDER_THAN_THE_WINDOW)
    more.click()
    assert headline.evaluate(lines) == 2


def test_a_short_headline_offers_nothing_more_and_free_text_is_not_scored(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    assert battle.part("goal").is_hidden()
    battle.play_turn("do a little dance")
    expect(battle.part("headline-more")).to_be_hidden()
    expect(battle.part("goal")).to_have_text("We cannot score this one automatically: only people judge it.")
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.vote("tie")
    for side in ("left", "right"):
        told = battle.part(f"physics-{side}").locator("[data-part=success]")
        expect(told).to_have_text("Not scored")
    expect(battle.part("agreement")).to_have_text("We cannot score this one automatically: only people judge it.")


def test_what_an_instruction_is_scored_as_is_said_in_the_same_words_before_and_after_the_vote(
    open_page: OpenPage,
) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("Could you pick the RED block up?")
    said = "Scored as: pick up the red cube"
    expect(battle.part("goal")).to_have_text(said)
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.vote("tie")
    expect(battle.part("goal")).to_have_text(said)
