"""A slow machine draws less, and sees the same."""

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
