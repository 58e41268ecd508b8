"""Everything that a mouse can do on the battle page, keys can."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def test_a_battle_is_played_and_voted_with_keys_alone(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    keyboard = battle.page.keyboard
    for _ in range(40):
        keyboard.press("Tab")
        if battle.ask("document.activeElement.id === 'instruction'"):
            break
    keyboard.type("pick up the yellow cube")
    keyboard.press("Enter")
    battle.wait_for("vlaArena.battle.can_vote")
    assert battle.ask("document.activeElement.id") == "instruction", "whoever sent it may write the next one"
    keyboard.press("Escape")
    assert battle.ask("document.activeElement.dataset.part") == "stage", "now the replay has the keys"
    battle.wait_for("!vlaArena.clock.growing")

    keyboard.press("Home")
    if not battle.ask("vlaArena.clock.playing"):
        keyboard.press("Space")
    assert battle.ask("vlaArena.clock.playing")
    keyboard.press("Space")
    assert not battle.ask("vlaArena.clock.playing")
    keyboard.press("Home")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowRight")
    assert battle.ask("vlaArena.clock.record") == 2
    keyboard.press("ArrowLeft")
    assert battle.ask("vlaArena.clock.record") == 1
    keyboard.press("End")
    assert battle.ask("vlaArena.clock.record === vlaArena.clock.lastRecord")

    keyboard.press("2")
    battle.wait_for("vlaArena.battle.status === 'voted'")
    assert battle.ask("vlaArena.battle.vote.vote") == "tie"
    assert battle.ask("document.activeElement.dataset.part") == "verdict-title"


def test_a_digit_typed_into_the_instruction_is_no_vote(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    battle.page.locator("#instruction").focus()
    battle.page.keyboard.type("12 34")
    assert battle.page.locator("#instruction").input_value() == "12 34"
    assert battle.ask("vlaArena.battle.status") == "ongoing"


def test_a_vote_before_any_turn_is_closed_and_the_page_says_why(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    sent: list[str] = []
    battle.page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    battle.page.keyboard.press("1")
    battle.fetch(f"/api/battles/{battle.ask('vlaArena.battle.battle_id')}")  # what the key did has begun before this
    assert not [call for call in sent if call.startswith("POST")]
    assert battle.ask("vlaArena.battle.vote") is None
    assert "Voting opens" in battle.part("vote-why").inner_text() or battle.part("vote").is_hidden()
    assert battle.page.locator("[data-vote=tie]").get_attribute("aria-disabled") == "true"
