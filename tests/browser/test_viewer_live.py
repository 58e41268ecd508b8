"""While the robots work: both pictures move, the turn can be stopped, and leaving does no harm."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from simulation.worlds import load_world
from tests.browser import pretend
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.replay_bin import replay_of_rows, rows_of_replay
from tests.stack import FOR_TESTS, Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SIDES = ("left", "right")


def test_both_pictures_move_at_the_robots_own_speed_and_stay_where_the_turn_ended(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.ask(
        """() => { window.seen = []; const look = () => {
             const {clock} = vlaArena;
             if (clock?.duration > 0) seen.push([performance.now() / 1000, clock.time, clock.growing, clock.live,
               vlaArena.records('left'), vlaArena.records('right'),
               document.querySelector('[data-viewer=left] [data-part=status]').textContent]);
             requestAnimationFrame(look); }; look(); }"""
    )
    battle.play_turn("put the red cube on the left plate")
    battle.wait_for("!vlaArena.clock.playing")
    seen = battle.ask("seen")
    assert all(live for _, _, growing, live, *_ in seen if growing)
    assert all(left == right for *_, left, right, _ in seen), "one clock releases both sides"
    times = [time for _, time, *_ in seen]
    assert times == sorted(times), "the turn is not shown again from its start"
    assert times[-1] == pytest.approx(battle.ask("vlaArena.clock.duration"))
    moving = [moment for moment, time, *_ in seen if 0 < time < times[-1]]
    speed = float(FOR_TESTS["ARENA_RELEASE_SPEED"])
    assert moving[-1] - moving[0] > 0.8 * times[-1] / speed, "nothing is shown faster than it is released"
    assert any(status.startswith("Working: step ") for *_, status in seen)
    asked = battle.ask("performance.getEntriesByType('resource').map(({name}) => name)")
    assert not [address for address in asked if "/episodes/" in address], "what came live is whole"
    assert battle.complaints == []


def test_until_their_release_both_robots_are_said_to_get_ready(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.ask(
        """() => { window.said = new Set(); const look = () => {
             said.add(document.querySelector('[data-part=live-text]').textContent);
             for (const status of document.querySelectorAll('[data-part=status]')) said.add(status.textContent);
             requestAnimationFrame(look); }; look(); }"""
    )
    battle.send("pick up the red cube")
    battle.wait_for("vlaArena.battle.turns[0]?.release_from")
    battle.wait_for(
        "document.querySelector('[data-viewer=right] [data-part=status]').textContent.startsWith('Working')"
    )
    said = battle.ask("[...said]")
    assert "Getting ready" in said
    assert any(text.startswith("Both robots are getting ready") for text in said)
    assert battle.part("cancel").is_visible()


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
        expect(bar).to_have_js_property("max", all_steps)
        # Where this takes over 2.5 s, the page goes by its clock meanwhile and opens the silent socket again.
        expect(bar).to_have_js_property("value", done)
        expect(battle.side(side, "status")).to_have_text(f"Working: step {done} of {all_steps}")
    assert "Both robots are working. You see them" in battle.part("live-text").inner_text()
    assert battle.part("cancel").is_visible()
    assert battle.part("vote-why").inner_text() == "Voting opens when both robots have finished."
    assert battle.part("send").get_attribute("aria-disabled") == "true"
    assert "Both robots are working. You can already write" in battle.part("send-why").inner_text()

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
    words = "put the green sphere on the right plate"
    with site.workers_held():
        battle.send(words)
        battle.part("cancel").click()
        battle.wait_for("vlaArena.battle.turns[0]?.status === 'failed'")
    assert_nothing_but_the_box(battle, words)
    assert battle.phase == "idle"
    assert not battle.ask("vlaArena.battle.can_vote")
    battle.part("send").click()
    battle.wait_for("vlaArena.battle.can_vote")
    assert battle.part("turns").locator("[data-turn]").count() < 2


def test_a_follow_up_can_be_stopped_and_what_was_before_it_is_there_again(open_page: OpenPage, site: Arena) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    battle.wait_for("!vlaArena.clock.playing")
    with site.workers_held():
        battle.send("put the red cube on the left plate")
        battle.part("cancel").click()
        battle.wait_for("vlaArena.battle.turns[1]?.status === 'failed' && vlaArena.moment?.settled")
    assert_nothing_but_the_box(battle, "put the red cube on the left plate")
    assert battle.part("headline").inner_text() == "pick up the red cube"
    assert battle.ask("vlaArena.moment.turnId === vlaArena.battle.turns[0].turn_id")
    assert battle.ask("vlaArena.clock.record === vlaArena.clock.lastRecord")
    assert battle.ask("vlaArena.battle.can_vote")


STOP_ONCE_IT_MOVES = """() => {
  const look = () => {
    const { battle, moment, clock, drawing } = vlaArena;
    const shown = battle.turns[1] && moment?.turnId === battle.turns[1].turn_id;
    if (!shown || !clock.growing || drawing.record === 0) return requestAnimationFrame(look);
    window.stoppedAt = drawing.record;
    document.querySelector('[data-part=cancel]').click();
  };
  look();
}"""
"""Pressed by the page itself, in the frame after the first motion: no slow machine sees the end of the turn before."""


def test_a_follow_up_that_is_on_the_screen_can_be_stopped_and_its_words_are_in_the_box_again(
    open_page: OpenPage,
) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    battle.wait_for("!vlaArena.clock.playing")
    words = "wave at me until I tell you to stop"  # nothing ends it before the last step
    battle.ask(STOP_ONCE_IT_MOVES)
    battle.send(words)
    battle.wait_for("vlaArena.battle.turns[1]?.status === 'failed' && vlaArena.moment?.settled")
    assert battle.ask("stoppedAt > 0")
    assert_nothing_but_the_box(battle, words)
    assert battle.part("headline").inner_text() == "pick up the red cube"
    assert battle.ask("vlaArena.moment.turnId === vlaArena.battle.turns[0].turn_id")
    battle.wait_for("vlaArena.clock.record === vlaArena.clock.lastRecord")
    assert battle.ask("vlaArena.battle.can_vote")


def test_a_line_that_goes_silent_during_a_turn_is_noticed_and_the_page_catches_up(open_page: OpenPage) -> None:
    battle = open_page()
    line = pretend.Line(battle.page)
    battle.open_ready()
    line.cut_after("rollout.frames")
    battle.send("put the red cube on the left plate")
    battle.wait_for("vlaArena.battle.can_vote && !vlaArena.clock.growing && vlaArena.records('right') > 1")
    assert line.lost > 0, "it was cut while the turn ran"
    assert line.opened > 1, "the page has opened another"
    assert battle.ask("vlaArena.clock.lastRecord") == max(
        battle.ask(f"vlaArena.battle.turns[0].{side}.steps") for side in SIDES
    )
    assert battle.complaints == []


def assert_nothing_but_the_box(battle: BattlePage, words: str) -> None:
    battle.wait_for("document.querySelector('#instruction').value !== ''")
    expect(battle.page.locator("#instruction")).to_have_value(words)
    expect(battle.page.locator("#instruction")).to_be_focused()
    for side in SIDES:
        expect(battle.side(side, "failure")).to_be_hidden()
        expect(battle.side(side, "status")).not_to_contain_text("Failed")
    expect(battle.part("live-strip")).to_be_hidden()
    expect(battle.part("live")).to_be_hidden()
    expect(battle.page.locator("[role=alert]:visible")).to_have_count(0)


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
    assert battle.part("live-text").inner_text() == "3 turns are ahead of yours. Yours should start in about 12 s."


def tamper(route: Route) -> None:
    """What the server recorded, with a cube that nobody was told to touch moved by 2 mm in one record."""
    model = load_world("widowx", "table").model
    answer = route.fetch()
    table = rows_of_replay(answer.body())
    table[len(table) // 2, 1 + model.joint("yellow_cube").qposadr[0]] += 0.002
    route.fulfill(body=replay_of_rows(table), content_type="application/octet-stream")


def test_a_tampered_record_fails_the_visitors_check(open_page: OpenPage) -> None:
    battle: BattlePage = open_page(reduced_motion="reduce").open_ready()
    battle.page.route("**/replay.bin", tamper)
    battle.play_turn("pick up the red cube")
    battle.vote()
    battle.part("stage").focus()
    battle.page.keyboard.press("y")
    battle.wait_for("vlaArena.checks !== null")
    for side in SIDES:
        steps = battle.ask(f"vlaArena.battle.turns[0].{side}.steps")
        check = battle.ask(f"vlaArena.checks.{side}")
        assert check["verdict"] == "different"
        moved = (steps + 1) // 2
        assert check["record"] in {moved, moved + 1}, "found at the record itself, or where physics goes on from it"
        assert check["step"] > 0.0005
    assert battle.part("check-results").inner_text().count("not what physics computes") == 2
