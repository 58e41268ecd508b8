"""What is shown before the first instruction is what is played, to the pixel; and typing waits for nothing."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Route

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.pretend import answer, hear_nothing, queue, refuse

pytestmark = [pytest.mark.browser, pytest.mark.stack]
WORDS = "pick up the red cube"
SIDES = ("left", "right")
SHOWN = "[...document.querySelectorAll('[data-part=veil]')].every((veil) => veil.hidden)"
SAYS = "document.querySelector('[data-part=veil-text]').textContent"


KEEP_WHAT_IS_DRAWN = """{ const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (type, options) {
    return getContext.call(this, type, { ...options, preserveDrawingBuffer: true });
  }; }"""
"""So that a canvas can be read at any time. A screenshot would show it as the page places it, between pixels of the
screen, where two screenshots of one picture differ here and there by one."""


def drawn(battle: BattlePage) -> list[bytes]:
    """What both canvases hold, left and right, as PNG."""
    battle.wait_for(SHOWN)
    battle.wait_for_pictures()
    urls = battle.ask("[...document.querySelectorAll('.screen canvas')].map((canvas) => canvas.toDataURL())")
    return [base64.b64decode(url.split(",")[1]) for url in urls]


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, {"width": 390, "height": 844}])
def test_the_scene_before_the_first_instruction_is_the_first_frame_of_what_is_played(
    open_page: OpenPage, viewport: dict[str, int]
) -> None:
    battle = open_page(reduced_motion="reduce", viewport=viewport)
    battle.page.add_init_script(KEEP_WHAT_IS_DRAWN)
    before = drawn(battle.open_ready())
    for picture in before:
        assert np.asarray(Image.open(io.BytesIO(picture)).convert("L")).std() > 10, "an empty picture compares nothing"
    battle.play_turn(WORDS)
    battle.part("stage").focus()
    battle.page.keyboard.press("End")
    assert drawn(battle) != before
    battle.page.keyboard.press("Home")
    assert drawn(battle) == before


def test_who_types_while_everything_loads_is_told_how_much_is_there_and_loses_nothing(open_page: OpenPage) -> None:
    battle = open_page()
    held: list[Route] = []
    battle.page.route("**/mujoco*.wasm", lambda route: held.append(route))
    battle.open()
    battle.page.locator("#instruction").press_sequentially("pick up the red")
    battle.wait_for(f"/: [1-9][0-9]?%$/.test({SAYS})")
    assert 0 < percent(battle) < 100
    assert not battle.ask("Boolean(window.vlaArena?.ready)")
    battle.page.locator("#instruction").press_sequentially(" cube")
    for route in held:
        route.continue_()
    battle.wait_for(SHOWN)
    assert battle.page.locator("#instruction").input_value() == WORDS
    assert battle.ask("document.activeElement.id") == "instruction"
    assert battle.complaints == []


def percent(battle: BattlePage) -> int:
    return int(str(battle.ask(SAYS)).rsplit(" ", 1)[1].removesuffix("%"))


def test_where_no_worker_makes_the_start_no_other_scene_is_shown_and_instructions_are_sent(open_page: OpenPage) -> None:
    battle = open_page()
    not_made = {"battle_id": "battle_1", "start": None}
    battle.page.route("**/api/battles/*/start", lambda route: route.fulfill(json=not_made))
    battle.open_ready()
    battle.wait_for(f"{SAYS} === 'Setting up the scene…'")
    for side in SIDES:
        assert battle.side(side, "veil").is_visible()
    battle.play_turn(WORDS)
    battle.wait_for(SHOWN)
    assert battle.complaints == []


def test_a_start_that_could_not_be_fetched_is_fetched_again(open_page: OpenPage) -> None:
    battle = open_page()
    battle.page.route("**/api/battles/*/start", refuse(503, "http_503"))
    battle.open_ready()
    battle.wait_for(f"{SAYS} === 'Setting up the scene…'")
    battle.page.unroute("**/api/battles/*/start")
    battle.wait_for(SHOWN)


@pytest.mark.parametrize("status", ["queued", "running"])
def test_who_reloads_while_a_follow_up_waits_sees_where_the_robots_stand(open_page: OpenPage, status: str) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn(WORDS)
    ends = {side: battle.ask("side => vlaArena.poses(side, vlaArena.clock.lastRecord)", side) for side in SIDES}
    begin = battle.ask("vlaArena.poses('left', 0)")
    battle.play_turn("put the red cube on the left plate")
    hear_nothing(battle.page)
    if status == "queued":
        queue(battle, ahead=1, seconds=9)
    else:
        run(battle)
    battle.page.reload()
    battle.wait_for(f"window.vlaArena?.ready && vlaArena.battle?.turns[1].status === '{status}' && {SHOWN}")
    for side in SIDES:
        now = battle.ask("side => vlaArena.poses(side)", side)
        assert now == ends[side]
        assert now != begin


def run(battle: BattlePage) -> None:
    """From the next load on the last turn runs, and nothing of it is released yet."""
    snapshot = battle.ask("vlaArena.battle")
    turn = snapshot["turns"][-1]
    turn |= {"status": "running", "release_from": None}
    for side in SIDES:
        turn[side] |= {"status": "running", "steps": None}
    snapshot |= {"can_vote": False, "can_send": False, "vote_blocked_because": "turn_running"}
    answer(battle, snapshot)


def test_the_next_battle_begins_in_a_scene_of_its_own(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    asked: list[str] = []
    battle.page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/start") else None)
    battle.play_turn(WORDS)
    battle.vote()
    battle.page.keyboard.press("n")
    battle.wait_for("vlaArena.battle?.turns.length === 0")
    battle.wait_for(SHOWN)
    opened = battle.ask("vlaArena.battle.battle_id")
    assert any(f"/{opened}/start" in url for url in asked)
