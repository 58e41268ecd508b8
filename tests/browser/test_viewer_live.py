"""While the robots work: both pictures move, the turn can be stopped, and leaving does no harm."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Route

from simulation.worlds import load_world
from tests.browser import pretend
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SIDES = ("left", "right")


def test_both_pictures_move_while_the_robots_work_and_then_play_from_the_start(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.ask(
        """() => { window.seen = []; const look = () => {
             if (vlaArena.clock?.growing) seen.push([vlaArena.clock.live, vlaArena.clock.time, vlaArena.records('left'),
               vlaArena.records('right'), document.querySelector('[data-viewer=left] [data-part=status]').textContent]);
             requestAnimationFrame(look); }; look(); }"""
    )
    battle.play_turn("put the red cube on the left plate")
    seen = battle.ask("seen")
    assert all(live for live, *_ in seen)
    times = [time for _, time, *_ in seen]
    assert times == sorted(times)
    assert len(set(times)) > 1, "a slow machine sees few of the steps, but sees them move"
    assert max(times) > 0.3
    ended = min(battle.ask(f"vlaArena.records('{side}')") for side in SIDES)
    together = [(left, right) for _, _, left, right, _ in seen if min(left, right) < ended]
    assert all(left == right for left, right in together), "both sides are released in step until one has ended"
    assert any(status.startswith("Working: step ") for *_, status in seen)
    battle.wait_for("vlaArena.clock.playing && vlaArena.clock.time < vlaArena.clock.duration / 2")
    assert battle.complaints == []


def test_each_side_has_a_bar_and_what_is_closed_meanwhile_says_why(open_page: OpenPage) -> None:
    battle = open_page()
    live = pretend.LiveTurn(battle.page)
    battle.open_ready().play_turn("put the red cube on the left plate")
    done, all_steps = 7, battle.ask("vlaArena.battle.turns[0].max_steps")
    live.show(battle, done)
    battle.page.reload()
    battle.wait_for(f"window.vlaArena?.ready && vlaArena.records('left') === {done + 1}")
    for side in SIDES:
        bar = battle.side(side, "progress")
        assert bar.is_visible()
        assert bar.evaluate("(bar) => [bar.value, bar.max]") == [done, all_steps]
        assert battle.side(side, "status").inner_text() == f"Working: step {done} of {all_steps}"
    assert "Both robots are at work" in battle.part("live-text").inner_text()
    assert battle.part("cancel").is_visible()
    assert battle.part("vote-why").inner_text() == "Voting opens when both robots have finished."
    assert battle.part("send").get_attribute("aria-disabled") == "true"
    assert "Both robots are at work" in battle.part("send-why").inner_text()

    live.release()
    battle.page.unroute_all()
    battle.page.reload()
    battle.wait_for("window.vlaArena?.ready && vlaArena.battle?.can_vote")
    for side in SIDES:
        assert battle.side(side, "progress").is_hidden()
        assert battle.side(side, "status").inner_text().startswith("Finished after ")
    assert battle.part("send-why").inner_text() == ""


def test_a_turn_can_be_stopped_and_is_as_if_it_had_not_been(open_page: OpenPage, site: Arena) -> None:
    battle = open_page().open_ready()
    with site.workers_held():
        battle.send("put the green sphere on the right plate")
        battle.part("cancel").click()
        battle.wait_for("vlaArena.battle.turns[0]?.status === 'failed'")
    for side in SIDES:
        assert "Cancelled" in battle.side(side, "failure-text").inner_text()
    assert battle.part("live-strip").is_hidden()
    assert not battle.ask("vlaArena.battle.can_vote")
    battle.page.locator("[data-viewer=left] [data-action=send-again]").click()
    battle.wait_for("vlaArena.battle.can_vote")


def test_who_leaves_and_comes_back_goes_on_where_things_are(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.send("pick up the yellow cube")
    battle.wait_for("vlaArena.battle.turns.length === 1")
    battle.page.reload()
    battle.wait_for("Boolean(window.vlaArena?.ready && vlaArena.battle?.turns.length === 1)")
    battle.wait_for("vlaArena.battle.can_vote && vlaArena.records('left') > 1 && !vlaArena.clock.growing")


def test_who_waits_is_told_calmly(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    pretend.hear_nothing(battle.page)
    pretend.queue(battle, ahead=3, seconds=12)
    battle.page.reload()
    battle.wait_for("document.querySelector('[data-part=live-text]').textContent.includes('ahead')")
    assert battle.part("live-text").inner_text() == "3 turns are ahead of yours. It should start in about 12 s."


def tamper(route: Route) -> None:
    """What the server recorded, with the red cube moved by 2 mm in one record."""
    model = load_world("widowx", "table").model
    answer = route.fetch()
    table = np.frombuffer(answer.body(), "<f8").reshape(-1, 1 + model.nq + 2 * model.nv + 14 + 7).copy()
    table[len(table) // 2, 1 + model.joint("red_cube").qposadr[0]] += 0.002
    route.fulfill(body=table.tobytes(), content_type="application/octet-stream")


def test_a_tampered_record_fails_the_visitors_check(open_page: OpenPage) -> None:
    battle: BattlePage = open_page(reduced_motion="reduce").open_ready()
    battle.page.route("**/replay.bin", tamper)
    battle.play_turn("pick up the red cube")
    battle.wait_for("vlaArena.insight !== null")
    battle.part("stage").focus()
    battle.page.keyboard.press("y")
    battle.wait_for("vlaArena.checks !== null")
    for side in SIDES:
        steps = battle.ask(f"vlaArena.battle.turns[0].{side}.steps")
        check = battle.ask(f"vlaArena.checks.{side}")
        assert check["verdict"] == "different"
        assert check["record"] == (steps + 1) // 2
        assert check["step"] == pytest.approx(0.002, rel=0.2)
    assert battle.part("check-results").inner_text().count("not what physics does") == 2
