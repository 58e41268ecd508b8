"""No page, in no state, in light or dark, on a phone or on a desk, breaks a rule that axe-core knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import OpenPage
from tests.browser.tour import SIZES, THEMES, walk
from tests.stack import BASE_DIR

pytestmark = [pytest.mark.browser, pytest.mark.stack]
AXE = BASE_DIR / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {"light": {}, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}}
"""The themes differ in colours alone: what is about anything else is asked once."""
VIOLATIONS = """async (rules) => (await axe.run(document, {resultTypes: ['violations'], ...rules})).violations.map(
    ({id, nodes}) => id + ': ' + nodes.slice(0, 4).map(
        ({target, failureSummary}) => target.join(' ') + ' ' + failureSummary).join(' | '))"""


def test_every_state_of_every_page_keeps_the_rules(open_page: OpenPage) -> None:
    # With less motion colours change at once: none is judged half-way.
    battle = open_page(viewport=SIZES["desktop"], bypass_csp=True, reduced_motion="reduce")
    broken: dict[str, list[Any]] = {}
    for state in walk(battle):
        battle.page.evaluate(AXE.read_text())
        for theme in THEMES:
            battle.page.emulate_media(color_scheme=theme)
            for name, size in SIZES.items():
                battle.page.set_viewport_size(size)
                if found := violations(battle, theme):
                    broken[f"{state}, {name}, {theme}"] = found
        battle.page.set_viewport_size(SIZES["desktop"])
    assert broken == {}


def violations(battle: BattlePage, theme: str) -> list[Any]:
    found: list[Any] = battle.ask(VIOLATIONS, RULES[theme])
    return found
