"""The store of recordings goes away and comes back: the page says so, keeps what is there, and fetches the rest."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import Browser

from tests.browser.battle_page import BattlePage
from tests.browser.seeded import seed_battles
from tests.faults.link import Line, LineState
from tests.stack import FOR_TESTS, Arena

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.slow]
SIDES = ("left", "right")
SETTLED = "Boolean(window.vlaArena?.ready && vlaArena.moment?.settled)"
SAID = (
    "The recording could not be loaded. The recordings are not reachable right now. "
    "Nothing is lost; try again in a moment."
)


@pytest.fixture(scope="module")
def line() -> Iterator[Line]:
    store = urlsplit(settings.MONGO_URL)
    line = Line(store.hostname or "127.0.0.1", store.port or 27017)
    yield line
    line.close()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory, line: Line) -> Iterator[Arena]:
    """An arena whose store is at the end of a line that can be cut, and which takes no other way to it."""
    user, at, _ = urlsplit(settings.MONGO_URL).netloc.rpartition("@")
    store = f"mongodb://{user}{at}127.0.0.1:{line.port}/?directConnection=true"
    arena = Arena(tmp_path_factory.mktemp("store"), **FOR_TESTS, MONGO_URL=store)
    try:
        arena.start()
        seed_battles(arena)
        yield arena
    finally:
        arena.close()


@pytest.fixture
def visit(browser: Browser, arena: Arena, line: Line) -> Iterator[BattlePage]:
    """A visitor's battle with one recorded turn."""
    context = browser.new_context(base_url=arena.url.rstrip("/"), reduced_motion="reduce")
    context.set_default_timeout(120_000)
    battle = BattlePage(context.new_page()).open_ready()
    battle.play_turn("pick up the red cube")
    yield battle
    line.set(LineState.OPEN)
    context.close()


def elsewhere(battle: BattlePage, path: str, *, same_visitor: bool) -> BattlePage:
    """The page in a browser that has nothing of it in its cache."""
    context = battle.page.context
    browser = context.browser
    assert browser is not None
    other = browser.new_context(
        base_url=battle.page.url.partition("/battle")[0],
        reduced_motion="reduce",
        storage_state=context.storage_state() if same_visitor else None,
    )
    return BattlePage(other.new_page()).open(path)


def assert_told(battle: BattlePage) -> None:
    for side in SIDES:
        battle.side(side, "veil-retry").wait_for(state="visible")
        assert battle.side(side, "veil-text").inner_text() == SAID


def test_who_replays_while_the_store_is_down_is_told_and_votes_once_it_is_back(visit: BattlePage, line: Line) -> None:
    line.set(LineState.CUT)
    battle = elsewhere(visit, visit.page.url, same_visitor=True)
    assert_told(battle)
    assert "when you can see both replays" in battle.part("vote-why").inner_text()
    battle.page.locator("#instruction").fill("typed meanwhile")
    with battle.page.expect_response(lambda answer: "/api/episodes/" in answer.url and answer.status == 503):
        battle.side("left", "veil-retry").click()
    battle.page.wait_for_load_state("networkidle")  # both sides were asked for, and both were refused
    assert_told(battle)

    line.set(LineState.OPEN)
    battle.side("right", "veil-retry").click()
    battle.wait_for(SETTLED)
    for side in SIDES:
        assert battle.side(side, "veil").is_hidden()
        assert battle.ask(f"vlaArena.records('{side}')") == visit.ask(f"vlaArena.records('{side}')")
    assert battle.page.locator("#instruction").input_value() == "typed meanwhile"
    battle.page.get_by_role("button", name="Both bad").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.page.context.close()


def test_who_opens_a_shared_battle_while_the_store_is_down_sees_it_once_it_is_back(
    visit: BattlePage, line: Line
) -> None:
    visit.page.get_by_role("button", name="Both bad").click()
    visit.wait_for("vlaArena.battle.status === 'voted'")
    line.set(LineState.CUT)
    stranger = elsewhere(visit, f"/b/{visit.ask('vlaArena.battle.battle_id')}", same_visitor=False)
    assert_told(stranger)
    assert stranger.part("verdict-title").inner_text() == "The vote: Both bad"

    line.set(LineState.OPEN)
    stranger.side("left", "veil-retry").click()
    stranger.wait_for(SETTLED)
    assert stranger.ask("vlaArena.records('left')") == visit.ask("vlaArena.records('left')")
    stranger.page.context.close()


def test_who_is_looking_already_goes_on_looking_while_the_store_is_down(visit: BattlePage, line: Line) -> None:
    visit.wait_for("vlaArena.insight !== null")
    line.set(LineState.CUT)
    visit.part("stage").focus()
    visit.page.keyboard.press("End")
    visit.wait_for("vlaArena.clock.record === vlaArena.clock.lastRecord")
    visit.page.get_by_role("button", name="Tie").click()
    visit.wait_for("vlaArena.battle.status === 'voted' && vlaArena.exactness === 'missing'")
    assert visit.side("left", "veil").is_hidden()

    line.set(LineState.OPEN)
    visit.part("stage").focus()
    visit.page.keyboard.press("y")
    visit.wait_for("vlaArena.checks !== null")
