"""When the pictures cannot be shown: a plain sentence, a way on, and nothing lost."""

from __future__ import annotations

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.pretend import refuse

pytestmark = [pytest.mark.browser, pytest.mark.stack]
AT_THE_END = "vlaArena.clock.record === vlaArena.clock.lastRecord"
LOSE = """for (const canvas of document.querySelectorAll('canvas'))
            canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"""
SAYS = "document.querySelector('[data-part=veil-text]').textContent"


def test_without_webassembly_the_page_says_what_to_do(open_page: OpenPage) -> None:
    battle = open_page()
    battle.page.add_init_script("delete globalThis.WebAssembly")
    battle.open()
    battle.wait_for(f"{SAYS}.includes('WebAssembly is off')")
    assert battle.side("left", "veil-retry").is_hidden()
    assert battle.page.locator("#instruction").is_visible()


def test_a_mesh_that_does_not_load_can_be_tried_again(open_page: OpenPage) -> None:
    battle = open_page()
    battle.page.route("**/*.stl", lambda route: route.fulfill(status=503))
    battle.open()
    battle.wait_for(f"{SAYS}.startsWith('A part of the scene could not be loaded (wx250s_')")
    battle.page.unroute("**/*.stl")
    battle.side("right", "veil-retry").click()
    battle.wait_for("Boolean(window.vlaArena?.ready)")
    battle.side("left", "veil").wait_for(state="hidden")


def test_pictures_that_the_browser_took_away_come_back_without_a_reload(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    battle.part("stage").focus()
    battle.page.keyboard.press("End")
    battle.wait_for(AT_THE_END)
    before = battle.ask("vlaArena.cameras")
    battle.ask(LOSE)
    battle.side("left", "veil").wait_for(state="visible")
    assert "Nothing else is lost" in battle.side("left", "veil-text").inner_text()
    battle.side("left", "veil-retry").click()
    battle.side("left", "veil").wait_for(state="hidden")
    assert not battle.ask("document.querySelector('canvas').getContext('webgl2').isContextLost()")
    for seen, was in zip(battle.ask("vlaArena.cameras"), before, strict=True):
        assert seen == pytest.approx(was, abs=1e-9)
    assert battle.ask(AT_THE_END)


def test_without_the_exact_recordings_what_is_seen_plays_all_the_same(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.page.route("**/replay.bin", refuse(503, "episodes_unavailable"))
    battle.play_turn("pick up the red cube")
    battle.page.locator("[data-vote=tie]").click()
    battle.wait_for("vlaArena.exactness === 'missing'")
    battle.part("stage").focus()
    battle.page.keyboard.press("Home")
    battle.page.keyboard.press("ArrowRight")
    assert battle.ask("vlaArena.clock.record") == 1
    assert battle.side("left", "veil").is_hidden()
    battle.page.keyboard.press("p")
    assert "could not be loaded" in battle.part("check-results").inner_text()
    battle.page.unroute("**/replay.bin")
    battle.part("check").click()
    battle.wait_for("vlaArena.checks !== null")


def census(battle: BattlePage) -> tuple[object, float]:
    """What card and engine keep, and the page's heap [MB] after a garbage collection."""
    devtools = battle.page.context.new_cdp_session(battle.page)
    devtools.send("HeapProfiler.collectGarbage")
    heap = devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    devtools.detach()
    return battle.ask("vlaArena.census()"), heap


def test_battle_after_battle_in_one_tab_keeps_no_more(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    kept = []
    for _ in range(4):
        battle.play_turn("pick up the red cube")
        battle.wait_for("vlaArena.insight !== null")
        kept.append(census(battle))
        first = battle.ask("vlaArena.battle.battle_id")
        battle.page.locator("[data-part=new-session]").click()
        battle.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{first}'")
    (early, heap_early), (late, heap_late) = kept[1], kept[-1]
    assert late == early
    assert heap_late - heap_early < 2.0, kept
