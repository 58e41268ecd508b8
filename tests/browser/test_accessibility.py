"""No page, in no state, in light or dark, on a phone or on a desk, breaks a rule that axe-core knows."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.tour import PAGES, SIZES, THEMES, walk
from tests.stack import BASE_DIR

pytestmark = [pytest.mark.browser, pytest.mark.stack]
AXE = BASE_DIR / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"light": {}, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}}
"""The themes differ in colours alone: what is about anything else is asked once."""
Look = tuple[str, Literal["light", "dark"]]
VIOLATIONS = """async (rules) => (await axe.run(document, {resultTypes: ['violations'], ...rules})).violations.map(
    ({id, nodes}) => id + ': ' + nodes.slice(0, 4).map(
        ({target, failureSummary}) => target.join(' ') + ' ' + failureSummary).join(' | '))"""


@pytest.fixture
def battle(open_page: OpenPage) -> BattlePage:
    """With less motion colours change at once: none is judged half-way."""
    return open_page(viewport=SIZES["desktop"], bypass_csp=True, reduced_motion="reduce")


def test_a_new_battle_and_every_other_page_keep_the_rules(battle: BattlePage) -> None:
    looks: list[Look] = [("desktop", "light"), ("phone", "dark")]
    broken = broken_in(battle.open_ready(), "battle", looks)
    for name, address in PAGES.items():
        broken |= broken_in(battle.open(address), name, looks)
    assert broken == {}


@pytest.mark.slow
def test_every_state_of_every_page_keeps_the_rules(battle: BattlePage) -> None:
    looks: list[Look] = [(name, theme) for theme in THEMES for name in SIZES]
    broken: dict[str, list[Any]] = {}
    for state in walk(battle):
        broken |= broken_in(battle, state, looks)
    assert broken == {}


def broken_in(battle: BattlePage, state: str, looks: list[Look]) -> dict[str, list[Any]]:
    """What breaks a rule in the state that the page is in, by how it was looked at."""
    broken: dict[str, list[Any]] = {}
    battle.page.evaluate(AXE.read_text())
    for size, theme in looks:
        battle.page.emulate_media(color_scheme=theme)
        battle.page.set_viewport_size(SIZES[size])
        if found := violations(battle, theme):
            broken[f"{state}, {size}, {theme}"] = found
    battle.page.set_viewport_size(SIZES["desktop"])
    return broken


def violations(battle: BattlePage, theme: str) -> list[Any]:
    found: list[Any] = battle.ask(VIOLATIONS, RULES[theme])
    return found
