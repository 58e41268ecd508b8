"""The home page in a browser: light at first, then two robots that act, unless the visitor asked for less."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import expect

from arena.drawings.store import COLLECTION, DrawingStore
from arena.store import EpisodeStore
from robots.kind import Robots
from tests.browser.battle_page import PATIENCE_S, BattlePage
from tests.browser.conftest import OpenPage
from tests.stack import Arena
from tests.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.stack]

FIRST_VIEW = 250_000
"""The most bytes [B] that the home page transfers before its robots move."""
LATEST = 4
STATE = "document.querySelector('[data-part=act]').dataset.state"
AT_REST = """async () => {
  for (let idle = 0; idle < 3; idle += 1) await new Promise((done) => requestIdleCallback(done));
}"""


@pytest.fixture(scope="module")
def voted(site: Arena) -> list[str]:
    """Battles with a vote and pictures."""
    votes = ("tie", "both_bad", "left_better", "right_better", "left_better")
    battles = [_play(Visitor(site.url), vote) for vote in votes]
    _give_pictures(site, battles)
    return battles


def _play(visitor: Visitor, vote: str) -> str:
    battle_id = visitor.open_battle()
    visitor.wait_for_turn(visitor.send_turn(battle_id, "pick up the red cube"), PATIENCE_S)
    assert visitor.post("/api/votes", {"battle_id": battle_id, "vote": vote})[0] == 201
    return battle_id


def _give_pictures(site: Arena, battles: list[str]) -> None:
    """Those that ship with the arena, drawn as a worker would draw these: on a busy machine that takes minutes."""
    url = (
        site.environment.get("MONGO_URL") or json.loads((site.folder / "running.json").read_text())["urls"]["MONGO_URL"]
    )
    episodes = EpisodeStore(url, site.environment["MONGO_DATABASE"])
    drawings = DrawingStore(episodes.beside(COLLECTION))
    for battle_id in battles:
        _, battle = Visitor(site.url).get(f"/api/shared/{battle_id}")
        for side in ("left", "right"):
            picture = (Path(settings.BASE_DIR) / "static" / "exhibition" / f"{side}.webp").read_bytes()
            drawings.keep(battle["turns"][0][side]["episode_id"], "picture.webp", Robots.look, picture)
    episodes.close()


@pytest.fixture
def calm(open_page: OpenPage, voted: list[str]) -> BattlePage:
    """The home page of a visitor who asked for less motion, with all its pictures."""
    return _opened(open_page(reduced_motion="reduce"))


def _opened(home: BattlePage) -> BattlePage:
    home.open("/")
    home.page.wait_for_load_state("networkidle")
    home.ask(AT_REST)
    return home


def _asked(home: BattlePage) -> list[str]:
    """Addresses that the page asks for from now on, its workers' included."""
    asked: list[str] = []
    home.page.context.on("request", lambda request: asked.append(request.url))
    return asked


def _wait_for_motion(home: BattlePage) -> None:
    """Until the clock has gone on. A busy machine may show nothing new for a second."""
    home.wait_for(f"vlaAct.clock.time !== {home.ask('vlaAct.clock.time')}")


def test_the_first_view_is_light(open_page: OpenPage, voted: list[str]) -> None:
    home = open_page(reduced_motion="reduce", viewport={"width": 1440, "height": 900})
    network = home.page.context.new_cdp_session(home.page)
    network.send("Network.enable")
    sizes: list[float] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    _opened(home)
    home.page.mouse.wheel(0, 2000)  # pictures below the window are loaded as well
    home.wait_for("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    expect(home.page.locator(".latest-row img")).to_have_count(2 * LATEST)
    assert sum(sizes) <= FIRST_VIEW
    assert len(sizes) > 10


def test_two_robots_begin_to_act_and_nothing_is_loaded_twice(open_page: OpenPage, voted: list[str]) -> None:
    home = open_page(reduced_motion="no-preference", viewport={"width": 1440, "height": 900})
    asked = _asked(home)
    home.open("/")
    expect(home.page.locator(".act-screen img")).to_have_count(2)
    home.wait_for(f"{STATE} === 'moving' && vlaAct.clock.drawn > 2")
    assert home.ask("vlaAct.clock.loop")
    _wait_for_motion(home)
    home.wait_for("vlaAct.clock.time > vlaAct.clock.duration - 0.6")
    home.wait_for("vlaAct.clock.time < vlaAct.clock.duration / 2")  # again from the start
    # The header's picture is the tab's icon as well, which the browser takes from its memory.
    twice = [url for url, times in Counter(asked).items() if times > 1 and "favicon" not in url]
    assert twice == []
    assert sum(url.endswith("view.bin") for url in asked) == 2
    assert home.complaints == []


def test_the_battle_page_finds_the_engine_in_the_browsers_cache(open_page: OpenPage, voted: list[str]) -> None:
    home = open_page(reduced_motion="no-preference", viewport={"width": 1440, "height": 900}).open("/")
    home.wait_for(f"{STATE} === 'moving'")
    fetched: list[str] = []
    home.page.on(
        "response", lambda response: fetched.append(response.url) if not response.from_service_worker else None
    )
    network = home.page.context.new_cdp_session(home.page)
    network.send("Network.enable")
    from_cache: list[str] = []
    network.on("Network.requestServedFromCache", lambda event: from_cache.append(event["requestId"]))
    home.open_ready("/battle")
    scripts = [url for url in fetched if "/dist/battle" in url]
    assert len(scripts) == 1
    deadline = time.monotonic() + PATIENCE_S
    while not from_cache:  # the browser tells of it in its own time
        assert time.monotonic() < deadline, "nothing came from the cache"
        home.page.wait_for_timeout(50)


def test_who_asked_for_less_motion_sees_pictures_that_stay_until_they_press_play(calm: BattlePage) -> None:
    asked = _asked(calm)
    calm.ask(AT_REST)
    assert calm.ask(STATE) == "still"
    assert calm.page.locator("canvas").count() == 0
    assert asked == []
    calm.page.get_by_role("button", name="Play").click()
    calm.wait_for(f"{STATE} === 'moving'")
    _wait_for_motion(calm)
    calm.page.get_by_role("button", name="Pause").click()
    calm.wait_for(f"{STATE} === 'paused' && !vlaAct.clock.playing")
    stopped = calm.ask("vlaAct.clock.time")
    calm.ask(AT_REST)
    assert calm.ask("vlaAct.clock.time") == stopped


def test_on_a_phone_the_picture_stays_until_it_is_tapped(open_page: OpenPage, voted: list[str]) -> None:
    home = _opened(open_page(viewport={"width": 390, "height": 844}, has_touch=True))
    assert home.ask(STATE) == "still"
    assert home.page.locator("canvas").count() == 0
    home.page.get_by_role("button", name="Play").tap()
    home.wait_for(f"{STATE} === 'moving'")


def test_out_of_view_the_robots_rest(open_page: OpenPage, voted: list[str]) -> None:
    home = open_page(reduced_motion="no-preference", viewport={"width": 1440, "height": 500}).open("/")
    home.wait_for(f"{STATE} === 'moving'")
    home.ask("window.scrollTo(0, document.documentElement.scrollHeight)")
    home.wait_for("!vlaAct.clock.playing")
    home.ask("window.scrollTo(0, 0)")
    home.wait_for("vlaAct.clock.playing")


def test_where_the_engine_cannot_be_loaded_the_pictures_stay(open_page: OpenPage, voted: list[str]) -> None:
    home = open_page(reduced_motion="no-preference", viewport={"width": 1440, "height": 900})
    home.page.route("**/dist/battle*.js", lambda route: route.abort())
    home.open("/")
    home.wait_for(f"{STATE} === 'failed'")
    expect(home.page.get_by_role("button", name="Cannot be played here")).to_be_visible()
    shown: list[Any] = home.ask("[...document.querySelectorAll('.act-screen img')].map((image) => image.naturalWidth)")
    assert shown == [640, 640]
