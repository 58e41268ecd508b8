"""From a suggestion to the next battle, with what-ifs in between: the way most people go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.pretend import hear_no_socket, refuse
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
OPEN = "document.querySelector('[data-part=vote]').dataset.open === 'true'"


def test_a_suggestion_fills_the_box_and_is_sent_by_enter(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    chip = battle.page.locator(".suggestions .chip[data-suggestion]").first
    text = chip.inner_text()
    chip.click()
    assert battle.page.locator("#instruction").input_value() == text
    assert battle.ask("document.activeElement.id") == "instruction"
    battle.page.keyboard.press("Enter")
    battle.wait_for("vlaArena.battle.turns.length === 1")
    assert battle.ask("vlaArena.battle.turns[0].instruction") == text


def test_every_judged_task_can_be_taken_from_the_list(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    families = battle.page.locator(".category:not([data-free])")
    here = battle.fetch("/api/tasks?scene_id=table")["results"]
    assert families.count() == len([task for task in here if task["suggested"]])
    families.last.locator("summary").focus()
    battle.page.keyboard.press("Enter")
    chip = families.last.locator(".chip").last
    text = chip.inner_text()
    families.first.locator("summary").click()
    chip.wait_for(state="hidden")  # one category is open at a time
    families.last.locator("summary").click()
    chip.click()
    assert battle.page.locator("#instruction").input_value() == text
    assert chip.is_hidden(), "the list folds away once one is chosen"


def test_an_empty_instruction_is_asked_for(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.part("send").click()
    asked = battle.ask("document.querySelector('#instruction').validationMessage")
    assert "Write what the robots should do" in asked
    assert battle.ask("vlaArena.battle.turns.length") == 0


def test_the_vote_stays_closed_until_both_replays_can_be_seen(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce")
    hear_no_socket(battle.page)  # what comes live is not fetched
    battle.open_ready()
    battle.page.route("**/view.bin", refuse(503, "episodes_unavailable"))
    battle.send("pick up the red cube")
    battle.wait_for("vlaArena.battle.can_vote")
    battle.side("left", "veil-retry").wait_for(state="visible")
    assert "when you can see both replays" in battle.part("vote-why").inner_text()
    for button in battle.page.locator("[data-vote]").all():
        assert button.get_attribute("aria-disabled") == "true"
        assert button.get_attribute("aria-describedby") == "vote-why"
    battle.part("stage").focus()
    battle.page.keyboard.press("1")
    assert battle.part("error").is_hidden(), "nothing was sent"

    battle.page.unroute("**/view.bin")
    battle.side("left", "veil-retry").click()
    battle.wait_for(OPEN)
    assert battle.part("vote-why").inner_text() == "Which robot did it better?"
    assert battle.page.locator("[data-vote][aria-disabled=false]").count() == 4


@pytest.fixture(scope="module")
def played(browser: Browser, site: Arena) -> Iterator[BattlePage]:
    """A visitor who goes from battle to battle."""
    context = browser.new_context(base_url=site.url.rstrip("/"), reduced_motion="reduce")
    context.set_default_timeout(120_000)
    yield BattlePage(context.new_page()).open_ready()
    context.close()


@pytest.mark.parametrize(
    ("key", "vote"),
    [("1", "left_better"), ("3", "both_bad"), ("Shift+ArrowUp", "tie"), ("Shift+ArrowRight", "right_better")],
)
def test_a_key_votes_and_n_opens_the_next_battle(played: BattlePage, key: str, vote: str) -> None:
    played.play_turn("pick up the red cube")
    played.wait_for(OPEN)
    played.part("stage").focus()
    played.page.keyboard.press(key)
    played.wait_for("vlaArena.battle.status === 'voted'")
    assert played.ask("vlaArena.battle.vote.vote") == vote
    before = played.ask("vlaArena.battle.battle_id")
    played.page.keyboard.press("n")
    played.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{before}'")
    assert played.ask("vlaArena.battle.turns.length") == 0
    assert played.ask("document.activeElement.id") == "instruction"
    played.part("stage").focus()


def test_after_the_vote_physics_stands_beside_it_with_what_the_vote_met(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("put the red cube on the left plate")
    battle.wait_for(OPEN)
    battle.page.get_by_role("button", name="Right is better").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    for side in ("left", "right"):
        outcome = battle.ask(f"vlaArena.battle.turns[0].{side}.outcome")
        said = battle.part(f"physics-{side}").inner_text()
        assert ("Goal reached" in said) == outcome["success"]
        assert outcome["success"] or f"{round(100 * outcome['progress'])}\N{NO-BREAK SPACE}% of the way" in said
        assert f"{outcome['steps']} steps" in said
        assert battle.ask(f"vlaArena.battle.{side}_model.name") == battle.part(f"verdict-{side}").inner_text()
    battle.part("effect").wait_for(state="visible")
    assert "on this pair" in battle.part("effect").inner_text()
    assert battle.part("same-start").is_visible()


def test_what_if_starts_elsewhere_or_with_another_instruction(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    assert battle.part("explore").is_hidden(), "not before the vote"
    battle.page.get_by_role("button", name="Tie").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.part("explore-instruction").fill("pick up the blue cube")
    battle.part("other-seed").click()
    battle.wait_for("vlaArena.battle.turns.length === 2 && vlaArena.battle.can_explore")
    assert battle.ask("vlaArena.battle.turns[1].instruction") == "pick up the blue cube"
    assert "another start" in battle.part("exploration-note").inner_text()
    assert battle.part("explore-instruction").input_value() == ""
    hashes = battle.ask("vlaArena.battle.turns.map((turn) => turn.left.outcome.start_hash)")
    assert hashes[0] != hashes[1]

    battle.page.locator("[data-turn]").first.click()
    battle.wait_for("vlaArena.moment?.turnId === vlaArena.battle.turns[0].turn_id && vlaArena.moment.settled")
    battle.part("stage").focus()
    battle.page.keyboard.press("Home")
    for _ in range(3):
        battle.page.keyboard.press("ArrowRight")
    assert battle.part("from-here").inner_text() == "From here (step 3)"
    battle.part("from-here").click()
    battle.wait_for("vlaArena.battle.turns.length === 3 && vlaArena.battle.can_explore")
    assert battle.ask("vlaArena.battle.turns[2].exploration.record") == 3
    assert battle.ask("vlaArena.battle.turns[2].instruction") == "pick up the red cube"
    votes = battle.fetch(f"/api/battles/{battle.ask('vlaArena.battle.battle_id')}")["vote"]
    assert votes["vote"] == "tie"
