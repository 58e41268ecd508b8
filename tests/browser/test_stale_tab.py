"""Two tabs on one battle: the one that was left behind says what happened, loses nothing, and goes on."""

from __future__ import annotations

import pytest

from tests.browser import pretend
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
OPEN = "document.querySelector('[data-part=vote]').dataset.open === 'true'"
INSTRUCTION = "stack the red cube on the blue cube"


def tab_beside(battle: BattlePage, *, hears: bool) -> BattlePage:
    """Another tab of the same visitor on the same battle, ready to vote."""
    tab = BattlePage(battle.page.context.new_page())
    if not hears:
        pretend.hear_nothing(tab.page)
    tab.open_ready(f"/battle/{battle.ask('vlaArena.battle.battle_id')}")
    tab.wait_for(OPEN)
    return tab


def vote_tie(battle: BattlePage) -> None:
    battle.wait_for(OPEN)
    battle.page.get_by_role("button", name="Tie").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")


def test_a_tab_that_hears_of_the_vote_shows_how_it_ended(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    beside = tab_beside(battle, hears=True)
    vote_tie(battle)
    beside.wait_for("vlaArena.battle.status === 'voted'")
    assert beside.part("verdict-title").inner_text() == "You voted: Tie"
    assert beside.part("vote").is_hidden()
    assert beside.part("error").is_hidden()


def test_a_vote_from_a_tab_that_missed_the_first_one_changes_nothing(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    stale = tab_beside(battle, hears=False)
    vote_tie(battle)
    assert stale.ask("vlaArena.battle.status") == "ongoing"

    stale.page.get_by_role("button", name="Left is better").click()
    stale.part("error").wait_for(state="visible")
    assert "have already voted in this battle" in stale.part("error-text").inner_text()
    stale.wait_for("vlaArena.battle.status === 'voted'")
    assert stale.part("verdict-title").inner_text() == "You voted: Tie"
    assert stale.part("verdict-left").inner_text() == battle.part("verdict-left").inner_text() != ""


def test_an_instruction_from_a_tab_that_missed_the_vote_is_kept_for_the_next_battle(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    stale = tab_beside(battle, hears=False)
    vote_tie(battle)

    first = stale.ask("vlaArena.battle.battle_id")
    stale.send(INSTRUCTION)
    stale.part("error").wait_for(state="visible")
    assert "This battle is over" in stale.part("error-text").inner_text()
    stale.wait_for("vlaArena.battle.status === 'voted'")
    assert stale.page.locator("#instruction").input_value() == INSTRUCTION
    assert "Next battle" in stale.part("composer-label").inner_text()

    stale.page.get_by_role("button", name="Send to both").click()
    stale.wait_for(f"vlaArena.battle?.turns.length === 1 && vlaArena.battle.battle_id !== '{first}'")
    assert stale.ask("vlaArena.battle.turns[0].instruction") == INSTRUCTION
    assert stale.page.locator("#instruction").input_value() == ""
