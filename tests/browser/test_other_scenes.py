"""Battles in other scenes than the table, where the operator offers these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.battle_page import BattlePage
from tests.browser.seeded import PAIR, SEED, seed_battles
from tests.browser.test_accessibility import broken_in
from tests.stack import FOR_TESTS, Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack]
OFFERED = "table,workbench,cabinet,warehouse,kitchen,bridge_carrot"
SIDES = ("left", "right")
LOOKS: Any = [("desktop", "light"), ("phone", "dark")]
OpenPage = Callable[..., BattlePage]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    arena = Arena(tmp_path_factory.mktemp("elsewhere"), **FOR_TESTS, ARENA_OFFERED_SCENES=OFFERED)
    try:
        arena.start()
        seed_battles(arena)
        yield arena
    finally:
        arena.close()


@pytest.fixture
def open_page(browser: Browser, elsewhere: Arena) -> Iterator[OpenPage]:
    contexts: list[BrowserContext] = []

    def open_(**options: Any) -> BattlePage:
        context = browser.new_context(
            base_url=elsewhere.url.rstrip("/"), bypass_csp=True, reduced_motion="reduce", **options
        )
        context.set_default_timeout(120_000)
        contexts.append(context)
        return BattlePage(context.new_page())

    yield open_
    for context in contexts:
        context.close()


def choose(battle: BattlePage, name: str) -> None:
    """Take a scene in the chooser, by keyboard."""
    battle.page.locator(".places > summary").press("Enter")
    battle.page.get_by_role("navigation", name="Scenes").get_by_role("link", name=name).press("Enter")


def suggested(page: Page) -> list[str]:
    return page.locator(".composer [data-suggestion]:not([hidden])").evaluate_all(
        "all => all.map(e => e.dataset.suggestion)"
    )


def test_a_whole_battle_at_the_cabinet_which_the_next_one_keeps(open_page: OpenPage) -> None:
    battle = open_page().open_ready()
    choose(battle, "Cabinet")
    battle.page.wait_for_url("**/battle/battle_*scene_id=cabinet*")
    battle.wait_for("Boolean(window.vlaArena?.ready && vlaArena.battle)")
    assert battle.ask("vlaArena.battle.scene_id") == "cabinet"
    assert "open the top drawer" in suggested(battle.page)

    battle.play_turn("open the top drawer")
    assert "open the top drawer" in battle.part("goal-text").inner_text()
    for side in SIDES:
        assert battle.ask(f"vlaArena.battle.turns[0].{side}.error") is None
        assert battle.ask(f"vlaArena.records('{side}')") > 2
    battle.vote("left_better")
    models = [battle.ask(f"vlaArena.battle.{side}_model.model_id") for side in SIDES]
    assert models == list(PAIR)

    battle.page.wait_for_timeout(500)  # a tap so soon after the undo would be taken for one on it
    battle.part("next").click()
    battle.wait_for("vlaArena.battle?.status === 'ongoing'")
    assert battle.ask("vlaArena.battle.scene_id") == "cabinet"
    assert battle.complaints == []


@pytest.mark.parametrize(
    ("place", "pair", "said", "understood"),
    [
        (
            ("ur5e", "warehouse"),
            ("film-ur5e", "film-ur5e-tenth"),
            "put the red box in the blue tote",
            "put the red carton in the blue bin",
        ),
        (
            ("franka", "kitchen"),
            ("film-franka", "film-franka-cloned"),
            "Please open up the microwave!",
            "open the microwave",
        ),
    ],
    ids=["warehouse", "kitchen"],
)
def test_a_whole_battle_of_another_robot(
    open_page: OpenPage, elsewhere: Arena, place: tuple[str, str], pair: tuple[str, str], said: str, understood: str
) -> None:
    robot_id, scene_id = place
    seed_battles(elsewhere, pair)
    try:
        battle = open_page().open_ready(f"/battle?scene_id={scene_id}")
        assert battle.ask("vlaArena.battle.robot_id") == robot_id
        battle.play_turn(said)
        assert understood in battle.part("goal-text").inner_text()
        for side in SIDES:
            assert battle.ask(f"vlaArena.battle.turns[0].{side}.error") is None
            assert battle.ask(f"vlaArena.records('{side}')") > 2
        battle.vote("left_better")
        assert [battle.ask(f"vlaArena.battle.{side}_model.model_id") for side in SIDES] == [*pair]
        assert battle.complaints == []
    finally:
        seed_battles(elsewhere)


def test_a_whole_bridge_battle_and_its_tab_on_the_board(open_page: OpenPage, elsewhere: Arena) -> None:
    battle = open_page().open_ready("/battle?scene_id=bridge_carrot")
    first = battle.page.locator(".suggestions .chip[data-suggestion]").first
    assert first.inner_text() == "put carrot on plate"
    battle.play_turn("put carrot on plate")
    battle.vote("both_bad")
    elsewhere.manage("rebuild_rankings")
    board = battle.open("/leaderboard").page
    board.get_by_role("navigation", name="Scenes").get_by_role("link", name="Carrot on plate").click()
    board.wait_for_url("**scene_id=bridge_carrot**")
    expect(board.locator(".board-facts")).to_contain_text("1 vote")
    board.get_by_role("navigation", name="Tasks").get_by_role("link", name="Carrot on plate").click()
    board.wait_for_url("**task=bridge_carrot**")
    expect(board.locator(".board-facts")).to_contain_text("1 vote")
    board.get_by_role("navigation", name="Scenes").get_by_role("link", name="Cabinet").click()
    board.wait_for_url(lambda url: "scene_id=cabinet" in url and "task" not in url)
    assert broken_in(battle, "board", LOOKS) == {}


def test_on_the_workbench_only_what_is_there_is_suggested_and_the_rest_is_said_not_to_be(open_page: OpenPage) -> None:
    battle = open_page().open_ready("/battle?scene_id=workbench")
    battle_id = battle.ask("vlaArena.battle.battle_id")
    battle.wait_for("Boolean(document.querySelector('.category [data-things]:not([hidden])'))")
    left_out = battle.fetch(f"/api/battles/{battle_id}/start")["left_out"]
    assert left_out, f"seed {SEED} leaves nothing out"
    named = battle.page.locator("[data-things]:not([hidden])").evaluate_all("all => all.map(e => e.dataset.things)")
    assert named
    assert not {name for names in named for name in names.split()} & set(left_out)
    assert len(battle.page.locator(".suggestions [data-suggestion]:not([hidden])").all()) >= 4

    missing = left_out[-1].replace("_", " ")
    battle.send(f"pick up the {missing}")
    expect(battle.part("notices")).to_contain_text(f"This is not here: {missing}. There are: ")
    assert battle.page.locator("#instruction").input_value() == f"pick up the {missing}"
    assert battle.ask("vlaArena.battle.turns.length") == 0
    battle.page.locator(".places > summary").click()
    assert broken_in(battle, "battle with chooser", LOOKS) == {}


def test_left_to_chance_the_page_is_that_of_the_battle_and_the_choice_stays(open_page: OpenPage) -> None:
    battle = open_page().open_ready("/battle?scene_id=any")
    assert "scene_id=any" in battle.page.url
    shown = battle.page.locator("#battle").get_attribute("data-scene")
    assert shown == battle.ask("vlaArena.battle.scene_id")
    battle.page.locator(".places > summary").click()
    scenes = battle.page.get_by_role("navigation", name="Scenes")
    expect(scenes.locator("[aria-current]")).to_have_text("Any")


def test_on_a_phone_the_chooser_fits_and_the_box_is_in_view(open_page: OpenPage) -> None:
    battle = open_page(viewport={"width": 390, "height": 844}, has_touch=True).open_ready("/battle?scene_id=cabinet")
    box = battle.page.locator("#instruction").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 844
    battle.page.locator(".places > summary").tap()
    assert battle.ask("document.documentElement.scrollWidth") <= 390
