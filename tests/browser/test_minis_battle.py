"""The default battle: the architecture of OpenVLA against that of Octo, from the instruction to the names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.seeded import seed_battles
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SIDES = ("left", "right")
INSTRUCTION = "put the red cube on the left plate"
MADE_BY = {
    "openvla-mini": "OpenVLA architecture, trained by VLA Arena",
    "octo-mini": "Octo architecture, trained by VLA Arena",
}


@pytest.fixture
def battle(open_page: OpenPage, site: Arena) -> Iterator[BattlePage]:
    """A battle between these two; afterwards those that are opened are known ones again."""
    seed_battles(site, ("openvla-mini", "octo-mini"))
    try:
        yield open_page().open_ready()
    finally:
        seed_battles(site)


def test_openvla_mini_meets_octo_mini_and_the_vote_tells_which_was_which(battle: BattlePage) -> None:
    battle.play_turn(INSTRUCTION)
    assert battle.part("headline").inner_text() == INSTRUCTION
    for side in SIDES:
        assert battle.ask(f"vlaArena.battle.turns[0].{side}.error") is None
        assert battle.ask(f"vlaArena.records('{side}')") > 2
    assert battle.ask("vlaArena.battle.left_model") == "???"

    battle.page.get_by_role("button", name="Right is better").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    models = {side: battle.ask(f"vlaArena.battle.{side}_model") for side in SIDES}
    assert {model["model_id"] for model in models.values()} == set(MADE_BY)
    for side, model in models.items():
        assert battle.side(side, "plate-name").inner_text() == model["name"]
        assert MADE_BY[model["model_id"]] in battle.part(f"provenance-{side}").inner_text()
        shown = battle.fetch(f"/api/models/{model['model_id']}")
        assert (shown["family"], shown["hosted"], shown["license"]) == (model["family"], True, "Apache-2.0")
        assert shown["parameters"] > 1_000_000
    assert battle.complaints == []
