"""A battle on a task of LIBERO in a real browser: two demonstrations play it as remote policies, a visitor watches and
votes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, expect

from simulation import catalogue
from simulation.environment import Environment
from tests.browser.battle_page import BattlePage
from tests.browser.conftest import browser, playwright  # noqa: F401
from tests.browser.seeded import SEED, seed_battles
from tests.browser.test_accessibility import broken_in
from tests.browser.test_whole_battle import picture_at
from tests.libero.test_nearest import script
from tests.ports import free_port
from tests.stack import BASE_DIR, FOR_TESTS, Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
TASK = "libero_object_7"
TEXT = catalogue.wording(TASK, catalogue.task(TASK).slots[0])
KNOWS = {"knows-this-start": SEED, "knows-another": SEED + 1}
"""Policy -> the start whose record it plays. All battles of this arena begin at start SEED."""
SIDES = ("left", "right")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Policy -> the address of its process."""
    environment, found = Environment("panda", TASK), {}
    with ExitStack() as running:
        for name, start in KNOWS.items():
            folder, port = tmp_path_factory.mktemp(name), free_port()
            assert script("demonstrate").record(environment, TASK, start, folder)
            command = [
                sys.executable,
                "scripts/libero/serve_nearest.py",
                str(folder),
                "--port",
                str(port),
                "--most",
                "1",
            ]
            server = running.enter_context(subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True))
            running.callback(server.kill)
            assert server.stdout is not None
            assert "1 episodes at" in server.stdout.readline()
            found[name] = f"ws://127.0.0.1:{port}"
        yield found


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, servers: dict[str, str]) -> Iterator[Arena]:
    running = Arena(tmp_path_factory.mktemp("libero"), **FOR_TESTS, ARENA_OFFERED_SCENES=f"table,{TASK}")
    try:
        running.start(ready_within=800)
        for name, url in servers.items():
            running.manage("add_policy", name, "--url", url)
        seed_battles(running, (next(iter(KNOWS)), list(KNOWS)[1]))
        yield running
    finally:
        running.close()


@pytest.fixture
def battle(browser: Browser, arena: Arena) -> Iterator[BattlePage]:  # noqa: F811
    context = browser.new_context(base_url=arena.url.rstrip("/"), bypass_csp=True, reduced_motion="reduce")
    context.set_default_timeout(300_000)
    yield BattlePage(context.new_page())
    context.close()


def test_a_battle_of_liberos_panda_is_played_watched_and_voted_on(battle: BattlePage, arena: Arena) -> None:
    battle.open_ready(f"/battle?robot_id=panda&scene_id={TASK}")
    assert (battle.ask("vlaArena.battle.robot_id"), battle.ask("vlaArena.battle.scene_id")) == ("panda", TASK)
    battle.play_turn(TEXT)

    assert [battle.ask(f"vlaArena.battle.turns[0].{side}.error") for side in SIDES] == [None, None]

    for side in SIDES:
        assert battle.ask(f"vlaArena.records('{side}')") > 20
    assert picture_at(battle, 0) != picture_at(battle, 12), "the replay stands still"

    battle.vote("left_better")
    assert [battle.ask(f"vlaArena.battle.{side}_model.model_id") for side in SIDES] == list(KNOWS)
    assert battle.complaints == []

    arena.manage("rebuild_rankings")
    board = battle.open(f"/leaderboard?robot_id=panda&scene_id={TASK}").page
    expect(board.locator(".board-facts")).to_contain_text("1 vote")
    assert broken_in(battle, "board", [("phone", "dark")]) == {}


def test_boards_and_scenes_of_both_robots_are_chosen_on_the_page(battle: BattlePage) -> None:
    board = battle.open("/leaderboard").page
    board.get_by_role("navigation", name="Leaderboards").get_by_role("link", name="Franka Panda").click()
    board.wait_for_url("**robot_id=panda**")
    board.get_by_role("navigation", name="Leaderboards").get_by_role("link", name="Overall").click()
    board.get_by_role("navigation", name="Scenes").get_by_role("link", name="LIBERO Object 8").click()
    board.wait_for_url(f"**scene_id={TASK}**")
    expect(board.locator("h1")).to_have_text("Leaderboard")
