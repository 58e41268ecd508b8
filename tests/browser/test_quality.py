"""A slow machine draws less, and sees the same."""

from __future__ import annotations

import pytest

from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.stack]
TWENTY_TIMES_SLOWER = {"rate": 20}


def test_drawing_less_keeps_the_point_of_view(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the red cube")
    battle.page.get_by_role("button", name="Repeat").click()
    before = battle.ask("vlaArena.cameras")

    battle.page.context.new_cdp_session(battle.page).send("Emulation.setCPUThrottlingRate", TWENTY_TIMES_SLOWER)
    battle.wait_for("vlaArena.drawing.quality === 'coarse'")

    for seen, was in zip(battle.ask("vlaArena.cameras"), before, strict=True):
        assert seen == pytest.approx(was, abs=1e-6)
