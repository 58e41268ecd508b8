"""A real Chromium, drawing in software, and visitors who use it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright

from tests.browser.battle_page import BattlePage
from tests.browser.seeded import seed_battles
from tests.ports import free_port
from tests.stack import FOR_TESTS, Arena
from tests.visitor import Visitor

FLAGS = [
    "--no-sandbox",
    "--use-angle=swiftshader-webgl",  # WebGL in software, the page without it: what a machine without a card does
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Windows that nobody looks at, made for each page.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
]
ONLY_RULES = "from arena.models import Contestant as C; C.objects.filter(pk='local-language').update(status='retired')"
NAMES = ("chromium", "chromium-browser", "google-chrome")
OpenPage = Callable[..., BattlePage]


def chromium() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, "no Chromium here; run: scripts/browser.sh"
    return found


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """For these tests only: as long as it runs, no other event loop can run in this thread."""
    expect.set_options(timeout=120_000)  # Playwright's own five seconds judge the machine
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as launched:
        yield launched


@pytest.fixture(scope="package")
def site(arena_stack: Arena) -> Arena:
    """The whole arena; every battle in it is the one that `tests.browser.seeded` tells of."""
    seed_battles(arena_stack)
    return arena_stack


@pytest.fixture
def open_page(browser: Browser, site: Arena) -> Iterator[OpenPage]:
    """Open a battle page as a new visitor; what a context takes (viewport, color_scheme, ...) may be given."""
    contexts: list[BrowserContext] = []

    def open_(**options: Any) -> BattlePage:
        context = browser.new_context(base_url=site.url.rstrip("/"), **options)
        context.set_default_timeout(120_000)
        contexts.append(context)
        return BattlePage(context.new_page())

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="package")
def voice_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A whole arena with voice battles between the two agents that need nothing but speech."""
    port = str(free_port())
    found = Arena(tmp_path_factory.mktemp("voice"), **FOR_TESTS, ARENA_KINDS="robots,voice", ARENA_VOICE_PORT=port)
    try:
        found.start()
        found.manage("shell", "-c", ONLY_RULES)
        yield found
    finally:
        found.close()


@pytest.fixture(scope="package")
def policies(site: Arena) -> list[dict[str, Any]]:
    """Every registered policy, as the API lists it."""
    _, models = Visitor(site.url).get("/api/models")
    found: list[dict[str, Any]] = models["results"]
    return found
