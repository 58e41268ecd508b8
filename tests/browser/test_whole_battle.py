"""One battle as people live it: instruction, progress, replay, vote, reveal, a place on the leaderboard."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from simulation.view_format import ROWS_PER_CHUNK, unpack
from simulation.worlds import load_world
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.stack import Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SIDES = ("left", "right")
INSTRUCTION = "put the red cube on the left plate"


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return load_world("widowx", "table").model


def test_a_visitor_plays_watches_votes_and_finds_both_robots_ranked(
    open_page: OpenPage, site: Arena, model: mujoco.MjModel
) -> None:
    battle = open_page().open_ready()
    assert battle.phase == "idle"
    assert battle.page.url.endswith(battle.ask("vlaArena.battle.battle_id"))

    battle.play_turn(INSTRUCTION)
    told = [event["type"] for event in battle.events()]
    assert told[0] == "snapshot"
    # Two workers tell at once: what overtakes another is a gap, and a snapshot stands in for what lies before it.
    assert {"turn.opened", "rollout.frames"} <= set(told)
    assert battle.part("headline").inner_text() == INSTRUCTION

    for side in SIDES:
        assert worst_error(battle, side, model) < 1e-6

    pictures = picture_at(battle, 0), picture_at(battle, 8)
    assert pictures[0] != pictures[1], "the replay stands still"

    battle.page.get_by_role("button", name="Left is better").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    names = {side: battle.ask(f"vlaArena.battle.{side}_model.name") for side in SIDES}
    for side in SIDES:
        assert battle.side(side, "plate-name").inner_text() == names[side]
        assert battle.part(f"provenance-{side}").inner_text() != ""
        assert battle.part(f"physics-{side}").inner_text() != ""
    assert "Left is better" in battle.part("verdict-title").inner_text()

    site.manage("rebuild_rankings")
    main = battle.page.get_by_role("navigation", name="Main")
    main.get_by_role("link", name="Leaderboard", exact=True).click()
    for side in SIDES:
        row = battle.page.locator("tr[data-model]", has=battle.page.get_by_text(names[side], exact=True))
        assert int(row.locator(".col-votes").inner_text()) >= 1
    assert battle.complaints == []


def test_instructions_before_the_vote_are_turns_and_the_next_one_opens_a_battle(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    battle.play_turn("pick up the green sphere")
    battle.play_turn("put the green sphere on the right plate")
    assert battle.ask("vlaArena.battle.turns.map((turn) => turn.seq)") == [1, 2]
    battle.page.get_by_role("button", name="Turn 1").click()
    assert battle.part("headline").inner_text() == "pick up the green sphere"

    first = battle.ask("vlaArena.battle.battle_id")
    battle.page.get_by_role("button", name="Both bad").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.send("pick up the red cube")
    battle.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{first}' && vlaArena.battle.turns.length === 1")
    assert battle.ask("vlaArena.battle.left_model") == "???"
    battle.wait_for("vlaArena.battle.can_send")

    battle.page.get_by_role("button", name="New battle").click()
    battle.wait_for("vlaArena.battle && vlaArena.battle.turns.length === 0")
    battle.page.locator(".session-title", has_text="pick up the red cube").click()
    battle.wait_for("vlaArena.battle && vlaArena.battle.turns.length === 1")
    assert battle.complaints == []


def worst_error(battle: BattlePage, side: str, model: mujoco.MjModel) -> float:
    """Largest distance [m] between what the browser's engine and Python's make of what is seen of a body or geom, over
    all records.
    """
    episode_id = battle.ask(f"vlaArena.battle.turns.at(-1).{side}.episode_id")
    scale = np.array(battle.fetch("/api/scenes/widowx/table/")["view"]["scale"])
    content = battle.page.request.get(f"/api/episodes/{episode_id}/view.bin").body()
    rows = unpack(content, model.nq)[::ROWS_PER_CHUNK] * scale
    assert battle.ask(f"vlaArena.records('{side}')") == len(rows)
    data = mujoco.MjData(model)
    worst = 0.0
    for record, row in enumerate(rows):
        data.qpos[:] = row
        mujoco.mj_forward(model, data)
        shown: dict[str, Any] = battle.ask("([side, record]) => vlaArena.poses(side, record)", [side, record])
        assert len(shown["bodies"]) == model.nbody
        here = {name: data.body(name).xpos for name in shown["bodies"]} | {
            f"geom {name}": data.geom(name).xpos for name in shown["geoms"]
        }
        there = shown["bodies"] | {f"geom {name}": at for name, at in shown["geoms"].items()}
        worst = max(worst, *(float(np.linalg.norm(here[name] - there[name])) for name in here))
    return worst


def picture_at(battle: BattlePage, record: int) -> bytes:
    """Both viewers with the clock paused on a record."""
    battle.page.locator("[data-part=stage]").focus()
    battle.page.keyboard.press("Home")
    if battle.ask("vlaArena.clock.playing"):
        battle.page.keyboard.press("Space")
    battle.page.keyboard.press("Home")
    for _ in range(record):
        battle.page.keyboard.press("ArrowRight")
    battle.wait_for(f"vlaArena.clock.record === {record}")
    battle.wait_for_pictures()
    return b"".join(map(battle.picture, SIDES))
