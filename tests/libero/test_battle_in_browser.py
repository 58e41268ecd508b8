"""A battle on a LIBERO task in a real browser: two servers drive the Panda, and the visitor looks into both replays."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pytest
from playwright.sync_api import Browser

from simulation import catalogue
from simulation.bundle import write_scene_bundle
from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.panda_expert import PandaExpert
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import browser, playwright  # noqa: F401 - fixtures
from tests.browser.seeded import SEED, seed_battles
from tests.remote.servers import PolicyServer
from tests.stack import BASE_DIR, FOR_TESTS, Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
SCENE = "libero_object_7"
CHUNK = 10
PAIR = ("recorded", "straight-down")
SIDES = ("left", "right")
CONTRACT = {
    "chunk": CHUNK,
    "execute": CHUNK,
    "action_space": "eef_delta_libero7",
    "proprioception": "libero_state8",
    "rate_hz": 20,
    "cameras": [{"name": name, "height": 64, "width": 64} for name in ("agentview", "wrist")],
}
WIRE_BYTES = 1.2e6
SHOTS = os.environ.get("ARENA_SCREENSHOTS")
"""A folder for pictures of what was tested, for whoever wants to look."""


def recorded(seed: int) -> Floats:
    """The actions (n, 7) with which the expert does the task from this start."""
    environment = Environment("panda", SCENE)
    environment.reset(seed)
    environment.set_instruction(TEXT)
    expert, found = PandaExpert(environment), []
    expert.reset(TEXT, seed)
    unseen = Observation({}, environment.proprioception(), TEXT, 0)
    for _ in range(280):
        found.append(expert.infer(unseen)[0])
        if environment.step(found[-1]).judgement.success:
            return np.array(found)
    raise AssertionError("the expert did not do it")


TEXT = catalogue.wording(SCENE, catalogue.task(SCENE).slots[0])


class Blind:
    """Answers with rows of a plan, from its beginning in every new episode, which is a new connection."""

    def __init__(self, plan: Floats) -> None:
        self._plan = plan
        self._begun: dict[int, int] = {}

    def __call__(self, connection: Any, message: dict[str, Any]) -> dict[str, Any]:
        assert message["observation/image"].shape == message["observation/wrist_image"].shape == (64, 64, 3)
        assert message["observation/state"].shape == (8,)
        step = self._begun.get(id(connection), 0)
        self._begun[id(connection)] = step + CHUNK
        rows = self._plan[step : step + CHUNK]
        last = np.repeat(self._plan[-1:], CHUNK - len(rows), axis=0)
        return {"actions": np.concatenate([rows, last])}


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    down = np.tile([0.1, 0.0, -0.3, 0.0, 0.0, 0.1, 1.0], (40, 1))
    running = [PolicyServer(Blind(plan), {"arena_contract": CONTRACT}) for plan in (recorded(SEED), down)]
    for server in running:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield dict(zip(PAIR, (server.url for server in running), strict=True))
    for server in running:
        server.shutdown()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, servers: dict[str, str]) -> Iterator[Arena]:
    folder = tmp_path_factory.mktemp("libero")
    scenes = folder / "scenes"
    write_scene_bundle("panda", SCENE, scenes / "panda" / SCENE)
    (scenes / "widowx").symlink_to(BASE_DIR / "build" / "scenes" / "widowx")
    arena = Arena(folder / "data", **FOR_TESTS, ARENA_OFFERED_SCENES=f"table,{SCENE}", ARENA_SCENES=str(scenes))
    try:
        arena.start(ready_within=900)
        for name, url in servers.items():
            arena.manage("add_policy", name, "--url", url)
        seed_battles(arena, PAIR)
        yield arena
    finally:
        arena.close()


@pytest.fixture(scope="module")
def battle(browser: Browser, arena: Arena) -> Iterator[BattlePage]:  # noqa: F811 - the fixture
    context = browser.new_context(base_url=arena.url.rstrip("/"), reduced_motion="reduce")
    context.set_default_timeout(120_000)
    yield BattlePage(context.new_page())
    context.close()


def keep(battle: BattlePage, name: str) -> None:
    if SHOTS:
        battle.page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def test_its_scene_comes_in_the_promised_bytes_and_is_played_to_the_goal(battle: BattlePage, arena: Arena) -> None:
    sizes: list[int] = []

    def measure(answer: Any) -> None:
        if f"/{SCENE}/" in answer.url and answer.ok:
            sizes.append(len(brotli.compress(answer.body())))

    battle.page.on("requestfinished", lambda request: measure(request.response()))
    battle.open_ready(f"/battle?scene_id={SCENE}")
    assert battle.ask("vlaArena.battle.scene_id") == SCENE
    keep(battle, "1-open")
    battle.play_turn(TEXT)
    keep(battle, "2-played")
    assert 0.2e6 < sum(sizes) < WIRE_BYTES, sizes
    for side in SIDES:
        assert battle.ask(f"vlaArena.battle.turns[0].{side}.error") is None
        assert battle.ask(f"vlaArena.records('{side}')") > 50
    battle.vote("left_better")
    keep(battle, "3-voted")
    assert "eached" in battle.part("physics-left").inner_text() or "oal" in battle.part("physics-left").inner_text()


def test_its_replay_stands_at_any_moment_and_takes_overlays(battle: BattlePage) -> None:
    battle.part("stage").focus()
    if battle.ask("vlaArena.clock.playing"):
        battle.page.keyboard.press("Space")
    shown = []
    for key in ("Home", "End"):
        battle.page.keyboard.press(key)
        battle.wait_for_pictures()
        shown.append(battle.picture("left"))
    assert shown[0] != shown[1]
    for overlay in ("contacts", "joints", "paths"):
        battle.page.locator(f"[data-overlay={overlay}]").evaluate("box => box.checked || box.click()")
    battle.wait_for_picture("left", lambda picture: picture != shown[1])
    keep(battle, "4-overlays")


def test_a_visitor_checks_both_records(battle: BattlePage) -> None:
    battle.page.keyboard.press("y")
    battle.wait_for("vlaArena.checks !== null")
    keep(battle, "5-checked")
    told = {side: battle.ask(f"vlaArena.checks.{side}") for side in SIDES}
    print(told)
    assert {check["verdict"] for check in told.values()} <= {"same", "follows"}, told
    assert battle.complaints == []
