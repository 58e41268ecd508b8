"""One instruction from three starts: asked for beside it, watched one after the other, one vote, and who did what."""

from __future__ import annotations

import pytest

from arena.starts import CHOICES
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
INSTRUCTION = "put the red cube on the left plate"


def tabs(battle: BattlePage) -> list[str]:
    return battle.part("turns").locator("[data-turn]").all_inner_texts()


def test_a_visitor_watches_three_starts_votes_once_and_reads_who_reached_the_goal_in_each(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.page.get_by_label("Show it from three different starts").check()
    battle.send(INSTRUCTION)
    battle.wait_for("vlaArena.battle.turns.some((turn) => turn.status === 'running')")
    assert len(tabs(battle)) == max(CHOICES)
    assert "Start 1 of 3" in tabs(battle)[0]
    assert battle.part("starts").is_hidden()
    battle.wait_for("vlaArena.battle.turns[1].status === 'running'")
    assert "Start 2 of 3" in battle.part("live-text").inner_text()
    assert "finished" in tabs(battle)[0]
    assert battle.page.locator("[data-turn][aria-pressed=true]").inner_text().startswith("Start 2 of 3")
    assert "all three starts" in battle.part("vote-why").inner_text()

    battle.wait_for("vlaArena.battle.can_vote")
    assert "Vote" in battle.part("send-why").inner_text()
    battle.page.locator("[data-turn]").first.click()
    battle.wait_for("vlaArena.moment?.settled && vlaArena.moment.turnId === vlaArena.battle.turns[0].turn_id")
    battle.vote("left_better")
    told = battle.ask("vlaArena.battle.starts")
    for side in ("left", "right"):
        count = sum(bool(start[side]["success"]) for start in told)
        assert f"Goal reached in {count} of 3 starts" in battle.part(f"physics-{side}").inner_text()
    rows = battle.part("start-rows").locator("tr")
    assert [row.locator("th").inner_text() for row in rows.all()] == [f"Start {n}" for n in (1, 2, 3)]
    assert battle.part("start-rows").locator("td").count() == 6
    assert battle.complaints == []
