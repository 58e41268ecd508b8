"""A slow machine draws less, and sees the same; visitors may choose."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
BUSY_IN_EVERY_FRAME = """() => { const work = () => {
    for (const until = performance.now() + 60; performance.now() < until; );
    requestAnimationFrame(work); }; work(); }"""


def test_drawing_less_keeps_the_point_of_view(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    battle.play_turn("pick up the red cube")
    battle.page.get_by_role("button", name="Repeat").click()
    battle.page.get_by_role("button", name="Play", exact=True).click()
    before = battle.ask("vlaArena.cameras")

    battle.ask(BUSY_IN_EVERY_FRAME)
    battle.wait_for("vlaArena.drawing.quality === 'coarse'")

    for seen, was in zip(battle.ask("vlaArena.cameras"), before, strict=True):
        assert seen == pytest.approx(was, abs=1e-6)


def test_a_chosen_quality_is_drawn_and_kept_for_the_next_visit(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready()
    assert battle.ask("vlaArena.drawing.quality") == "lite"  # without a graphics card
    before = battle.ask("vlaArena.cameras")

    battle.ask("() => document.activeElement.blur()")  # the box takes every key
    for _ in range(2):  # to full, and on to coarse
        battle.page.keyboard.press("q")
    battle.wait_for("vlaArena.drawing.quality === 'coarse'")
    for seen, was in zip(battle.ask("vlaArena.cameras"), before, strict=True):
        assert seen == pytest.approx(was, abs=1e-6)

    battle.open_ready()
    assert battle.ask("vlaArena.drawing.quality") == "coarse"
    battle.play_turn("pick up the red cube")
    battle.page.get_by_role("button", name="Picture quality: coarse").click()
    battle.page.get_by_role("button", name="Picture quality: automatic").wait_for()
    assert battle.ask("vlaArena.drawing.quality") == "lite"
    assert battle.complaints == []


def test_a_chosen_quality_is_kept_to_however_slow_it_is(open_page: OpenPage) -> None:
    battle = open_page(reduced_motion="reduce").open_ready("/battle?quality=lite")
    battle.play_turn("pick up the red cube")
    battle.page.get_by_role("button", name="Repeat").click()
    battle.page.get_by_role("button", name="Play", exact=True).click()

    battle.ask(BUSY_IN_EVERY_FRAME)
    battle.wait_for("vlaArena.drawing.frameTime > 0.05")

    assert battle.ask("vlaArena.drawing.quality") == "lite"
