"""A slow machine draws less, and sees the same."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
MUCH_SLOWER = {"rate": 60}
"""No machine that runs the tests draws a picture in time then, however few it draws."""


def test_drawing_less_keeps_the_point_of_view(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    battle.page.get_by_role("button", name="Repeat").click()
    before = battle.ask("vlaArena.cameras")

    battle.page.context.new_cdp_session(battle.page).send("Emulation.setCPUThrottlingRate", MUCH_SLOWER)
    battle.wait_for("vlaArena.drawing.quality === 'coarse'")

    for seen, was in zip(battle.ask("vlaArena.cameras"), before, strict=True):
        assert seen == pytest.approx(was, abs=1e-6)
