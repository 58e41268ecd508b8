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
    assert "it never counts" in battle.part("exploration-note").inner_text()

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


TOPS = """['left', 'right'].map((side) => {
    const box = document.querySelector(`[data-viewer=${side}] [data-part=screen]`).getBoundingClientRect();
    return [box.x, box.y, box.width, box.height].map(Math.round); })"""


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_the_names_come_onto_the_pictures_which_stay_where_they_are(open_page: OpenPage, size: tuple[int, int]) -> None:
    battle = open_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce").open_ready()
    battle.play_turn("put the red cube on the left plate")
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    for side in ("left", "right"):
        assert battle.side(side, "plate").is_hidden()
    battle.page.locator("[data-vote=left_better]").scroll_into_view_if_needed()
    before = battle.ask(TOPS)
    battle.page.locator("[data-vote=left_better]").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.part("effect").wait_for(state="visible")
    assert battle.ask(TOPS) == before
    for side in ("left", "right"):
        model = battle.ask(f"vlaArena.battle.{side}_model")
        link = battle.side(side, "plate-name")
        assert (link.inner_text(), link.get_attribute("href")) == (model["name"], f"/models/{model['model_id']}")
        count = model["facts"]["parameters"]
        assert battle.part(f"parameters-{side}").inner_text().replace(",", "") == (str(count) if count else "")
        assert battle.part(f"data-{side}").inner_text() == model["facts"]["training_data"]
        screen, plate = battle.side(side, "screen").bounding_box(), battle.side(side, "plate").bounding_box()
        assert screen is not None
        assert plate is not None
        assert plate["y"] > screen["y"] + screen["height"] / 2  # above are the arm and what it moves
    assert battle.side("left", "plate-result").inner_text() == "✓ Winner"
    assert battle.side("right", "plate-result").inner_text() == ""
    page = battle.page.locator("main").inner_text()
    assert page.count("Physics says") == 1
    assert "counts at the next" not in page


def test_reasons_a_sentence_and_progress_are_added_after_the_vote_and_are_there_again(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce")
    battle_id = voted(battle)
    panel = battle.part("feedback")
    panel.locator("summary").click()
    assert panel.locator("[data-reason=closer]").is_hidden(), "it was said with the vote"
    panel.locator("input[name=smoother][value=right]").check(force=True)
    panel.locator("input[name=left-progress]").fill("80")
    panel.locator("textarea").fill("It nearly\nfell.")
    panel.get_by_role("button", name="Save").focus()
    address = f"/api/battles/{battle_id}/feedback"
    saved = {"why": ""}
    for _ in range(100):
        saved = battle.fetch(address)
        if saved["why"] and saved["progress"]["left"]:
            break
        battle.page.wait_for_timeout(50)
    assert (saved["why"], saved["progress"]) == ("It nearly fell.", {"left": 80, "right": None})
    assert (saved["reasons"]["smoother"], saved["reasons"]["closer"]) == ("right", None)
    assert "Saved" in battle.part("feedback-said").inner_text()
    battle.open_ready(f"/battle/{battle_id}")
    panel.locator("summary").click()
    battle.wait_for("document.querySelector('[data-part=feedback-why]').value === 'It nearly fell.'")
    assert panel.locator("input[name=smoother][value=right]").is_checked()
    assert battle.part("left-progress-said").inner_text() == "80 %"
    assert battle.part("right-progress-said").inner_text() == "not judged"
    stranger = open_page().open(f"/b/{battle_id}")
    stranger.wait_for(SETTLED)
    assert stranger.part("feedback").count() == 0
    assert "nearly" not in stranger.page.content()
    assert [*battle.complaints, *stranger.complaints] == []


def test_the_list_of_sessions_names_the_latest_instruction_and_says_what_is_open(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce")
    voted(battle)
    battle.page.keyboard.press("n")
    battle.wait_for("vlaArena.battle?.turns.length === 0")
    entry = battle.page.locator(".session-link")
    battle.wait_for("document.querySelector('[data-part=session-meta]').textContent.includes('open')")
    assert entry.locator("[data-part=session-title]").inner_text() == "put the red cube on the left plate"
    assert entry.locator("[data-part=session-meta]").inner_text().startswith("Left is better · next battle open · 2 ")
    battle.play_turn("pick up the blue cube")
    battle.wait_for("document.querySelector('[data-part=session-title]').textContent === 'pick up the blue cube'")
    assert "No vote yet" in entry.locator("[data-part=session-meta]").inner_text()
