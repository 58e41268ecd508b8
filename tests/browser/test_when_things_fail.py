"""What a visitor reads when something does not work, and how to go on."""

from __future__ import annotations

import pytest
from playwright.sync_api import Playwright, WebSocketRoute

from tests.browser import pretend
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import FLAGS, OpenPage, chromium
from tests.browser.pretend import refuse
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]


def test_when_the_queue_is_down_the_page_says_so_and_keeps_what_was_typed(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.page.route("**/turns", refuse(503, "queue_unavailable"))
    battle.send("pick up the red cube")
    battle.part("error").wait_for(state="visible")
    assert "queue is not reachable" in battle.part("error-text").inner_text()
    assert battle.page.locator("#instruction").input_value() == "pick up the red cube"
    battle.page.unroute("**/turns")
    battle.page.get_by_role("button", name="Send to both").click()
    battle.wait_for("vlaArena.battle.can_vote")
    assert battle.part("error").is_hidden()


def test_when_no_session_can_be_opened_it_can_be_tried_again(open_page: OpenPage) -> None:
    battle = open_page()
    battle.page.route("**/api/sessions/init", refuse(503, "no_contestants"))
    battle.open()
    battle.part("error").wait_for(state="visible")
    assert "Fewer than two models" in battle.part("error-text").inner_text()
    battle.page.unroute("**/api/sessions/init")
    battle.page.get_by_role("button", name="Try again").click()
    battle.wait_for("Boolean(vlaArena.battle)")


def test_without_websockets_the_battle_is_followed_by_polling(open_page: OpenPage) -> None:
    battle = open_page()
    pretend.hear_no_socket(battle.page)
    battle.open_ready()
    battle.part("connection").wait_for(state="visible")
    battle.play_turn("pick up the green sphere")
    assert battle.ask("vlaArena.battle.can_vote")


def test_a_lost_socket_comes_back_and_says_so(open_page: OpenPage) -> None:
    battle = open_page()
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        if len(sockets) == 2:
            socket.close()
        else:
            socket.connect_to_server()

    battle.page.route_web_socket("**/ws/battles/**", pass_on)
    battle.open_ready()
    sockets[0].close()
    battle.play_turn("pick up the red cube")
    assert len(sockets) >= 3
    assert battle.part("connection").is_hidden()


def test_a_turn_that_failed_is_explained_without_naming_a_side_and_can_be_sent_again(open_page: OpenPage) -> None:
    battle = open_page()
    battle.open_ready()
    battle.play_turn("pick up the yellow cube")
    pretend.hear_nothing(battle.page)
    pretend.fail(battle, "turn_failed")
    battle.page.reload()
    battle.wait_for("Boolean(window.vlaArena?.ready && vlaArena.battle)")
    for side in pretend.SIDES:
        assert "could not be finished" in battle.side(side, "failure-text").inner_text()
    assert battle.part("announce").text_content() == (
        "This turn failed. Voting opens when both robots have finished an instruction."
    )
    with battle.page.expect_request("**/turns") as sent:
        battle.page.locator("[data-viewer=right] [data-action=send-again]").click()
    assert sent.value.post_data_json["instruction"] == "pick up the yellow cube"


def test_a_recording_that_cannot_be_fetched_can_be_tried_again(open_page: OpenPage) -> None:
    battle = open_page()
    pretend.hear_no_socket(battle.page)  # what comes live is not fetched
    battle.open_ready()
    battle.page.route("**/view.bin", refuse(503, "episodes_unavailable"))
    battle.send("pick up the red cube")
    battle.side("left", "veil-retry").wait_for(state="visible")  # until then the veil says what it waits for
    assert "could not be loaded" in battle.side("left", "veil-text").inner_text()
    battle.page.unroute("**/view.bin")
    battle.side("left", "veil-retry").click()
    battle.wait_for("vlaArena.records('left') > 1 && !vlaArena.clock.growing")
    battle.side("left", "veil").wait_for(state="hidden")


def test_a_battle_of_somebody_else_is_not_found(open_page: OpenPage) -> None:
    theirs = open_page().open_ready().ask("vlaArena.battle.battle_id")
    stranger = open_page()
    answer = stranger.page.goto(f"/battle/{theirs}")
    assert answer is not None
    assert answer.status == 404
    assert stranger.page.get_by_role("heading", name="There is nothing here").is_visible()
    assert stranger.page.get_by_role("link", name="Start a battle").is_visible()


def test_without_webgl_the_page_says_what_to_do(playwright: Playwright, site: Arena) -> None:
    with playwright.chromium.launch(executable_path=chromium(), args=[FLAGS[0], "--disable-3d-apis"]) as blind:
        battle = BattlePage(blind.new_page(base_url=site.url.rstrip("/")))
        battle.open()
        battle.wait_for("document.querySelector('[data-part=veil-text]').textContent.includes('WebGL')")
        assert battle.page.locator("#instruction").is_visible()
