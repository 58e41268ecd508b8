"""Home, the robots and one's own battles: how people come to a battle and find it again."""

from __future__ import annotations

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def vote_on(battle: BattlePage, instruction: str, button: str = "Tie") -> str:
    battle.play_turn(instruction)
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    battle.page.get_by_role("button", name=button).click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    return str(battle.ask("vlaArena.battle.battle_id"))


def test_home_counts_what_there_is_and_leads_into_a_battle_and_to_the_latest(open_page: OpenPage) -> None:
    visitor = open_page(reduced_motion="reduce")
    voted = vote_on(visitor.open_ready(), "pick up the red cube")
    home = visitor.open("/").page
    assert int(home.locator("[data-figure=votes]").inner_text().replace(",", "")) >= 1
    assert int(home.locator("[data-figure=robots]").inner_text()) >= 2
    assert home.locator(".latest-row a").first.get_attribute("href") == f"/b/{voted}"
    home.get_by_role("link", name="Start a battle").click()
    home.wait_for_url("**/battle/battle_*")


def test_a_robots_page_says_what_it_is_and_leads_to_its_battles(open_page: OpenPage) -> None:
    visitor = open_page(reduced_motion="reduce")
    voted = vote_on(visitor.open_ready(), "put the red cube on the left plate", "Left is better")
    model = visitor.ask("vlaArena.battle.left_model")
    page = visitor.open("/models").page
    page.get_by_role("link", name=model["name"], exact=True).click()
    main = page.get_by_role("main")
    assert model["provenance"] in main.inner_text()
    for heading in ("Record", "Recent battles", "About this model"):
        assert main.get_by_role("heading", name=heading).is_visible()
    battle = main.locator(f"a[href='/b/{voted}']")
    assert battle.inner_text() == "put the red cube on the left plate"
    battle.click()
    visitor.wait_for("window.vlaArena?.battle?.status === 'voted'")


def test_a_battle_without_a_vote_is_shown_to_nobody(open_page: OpenPage) -> None:
    owner = open_page(reduced_motion="reduce").open_ready()
    owner.play_turn("pick up the red cube")
    battle_id = owner.ask("vlaArena.battle.battle_id")
    for visitor in (owner, open_page()):
        answer = visitor.page.goto(f"/b/{battle_id}")
        assert answer is not None
        assert answer.status == 404


def test_ones_own_battles_are_listed_with_their_result_and_can_be_searched(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    told = ["pick up the red cube", "pick up the blue cylinder", "pick up the green sphere", "stack the red cube"]
    for instruction in told:
        vote_on(battle, instruction)
        before = battle.ask("vlaArena.battle.battle_id")
        battle.part("new-session").click()
        battle.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{before}'")
    titles = battle.page.locator(".session-title")
    battle.wait_for(f"document.querySelectorAll('.session').length === {len(told) + 1}")
    assert titles.all_inner_texts() == ["No instruction yet", *reversed(told)]
    assert "Tie" in battle.page.locator(".session-meta").nth(1).inner_text()

    search = battle.part("session-search")
    search.fill("the CYLINDER")
    assert battle.page.locator(".session-title >> visible=true").all_inner_texts() == ["pick up the blue cylinder"]
    search.fill("elephant")
    assert battle.part("nothing-found").is_visible()
    search.fill("")
    battle.page.locator(".session-link", has_text="green sphere").click()
    battle.wait_for("vlaArena.battle?.turns[0]?.instruction === 'pick up the green sphere'")
    assert battle.part("verdict-title").inner_text() == "You voted: Tie"
    battle.page.go_back()
    battle.wait_for("vlaArena.battle?.turns.length === 0")
