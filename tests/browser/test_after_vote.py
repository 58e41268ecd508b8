"""Reasons with the vote; after it physics beside it, playing on from a moment, and showing the battle to others."""

from __future__ import annotations

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SETTLED = "Boolean(window.vlaArena?.ready && vlaArena.moment?.settled)"


def voted(battle: BattlePage) -> str:
    """A battle played and voted on, one reason given; its id."""
    battle.open_ready().play_turn("put the red cube on the left plate")
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.part("reasons").locator("summary").click()
    battle.part("reasons").locator("input[name=closer][value=left]").check(force=True)
    battle.part("stage").focus()
    battle.page.keyboard.press("Shift+ArrowLeft")
    battle.wait_for("vlaArena.battle.status === 'voted'")
    return str(battle.ask("vlaArena.battle.battle_id"))


def test_a_voted_battle_tells_all_can_be_explored_and_shown(open_page: OpenPage) -> None:
    battle = open_page()
    battle_id = voted(battle)
    assert battle.ask("vlaArena.battle.vote.vote") == "left_better"
    assert battle.ask("vlaArena.battle.vote.reasons.closer") == "left"
    assert "Closer to the goal: Left" in battle.part("said").inner_text()
    assert battle.part("agreement").inner_text() != ""
    start = battle.ask("vlaArena.battle.turns[0].left.outcome.start_hash")
    assert start.startswith(battle.part("start-hash").inner_text())

    battle.wait_for(SETTLED)
    battle.part("from-here").click()
    battle.wait_for("vlaArena.battle.turns.length === 2 && vlaArena.battle.can_explore")
    assert battle.ask("vlaArena.battle.turns[1].exploration.turn_id === vlaArena.battle.turns[0].turn_id")
    assert "never counted" in battle.part("exploration-note").inner_text()

    stranger = open_page().open(f"/b/{battle_id}")
    stranger.wait_for(SETTLED)
    assert "The vote: Left is better" in stranger.part("verdict-title").inner_text()
    assert stranger.ask("vlaArena.battle.turns.length") == 1
    for name in ("vote", "composer", "explore", "sidebar"):
        assert stranger.part(name).is_hidden()
    assert [*battle.complaints, *stranger.complaints] == []


def test_who_reads_german_reads_german_and_may_choose_the_dark(open_page: OpenPage) -> None:
    battle = open_page(locale="de-DE", color_scheme="light").open_ready()
    assert battle.part("send").inner_text() == "An beide senden"
    assert battle.side("left", "status").inner_text() == "Bereit"
    battle.page.get_by_role("button", name="Dunkel").click()
    dark = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) < 150"
    battle.wait_for(dark)
    battle.page.reload()
    battle.wait_for(dark)
    battle.page.get_by_role("button", name="English").click()
    battle.wait_for("document.documentElement.lang === 'en'")
    assert battle.complaints == []
