"""A walk through every state of every page, for whoever looks at them: the check of accessibility, the screenshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from playwright.sync_api import ViewportSize

from tests.browser.battle_page import BattlePage

INSTRUCTION = "put the red cube on the left plate"
SIZES: dict[str, ViewportSize] = {"phone": {"width": 360, "height": 740}, "desktop": {"width": 1440, "height": 900}}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def walk(battle: BattlePage) -> Iterator[str]:
    """Goes from state to state and names each; the page stays there until the next is asked for."""
    yield from _battle(battle)
    yield from _around(battle)


def _battle(battle: BattlePage) -> Iterator[str]:
    battle.open_ready()
    yield "battle-idle"
    battle.send(INSTRUCTION)
    battle.wait_for("vlaArena.battle.turns.length > 0")
    yield "battle-running"
    battle.wait_for("vlaArena.battle.can_vote && !vlaArena.clock.growing")
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    _pause_at(battle, 12)
    yield "battle-settled"
    battle.part("reasons").locator("summary").click()
    battle.part("reasons").locator("input[name=closer][value=left]").check(force=True)
    yield "battle-reasons"
    battle.page.keyboard.press("Escape")
    battle.page.locator("[data-vote=left_better]").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.wait_for("!document.querySelector('[data-part=effect]').hidden")
    yield "battle-voted"
    battle.part("from-here").click()
    battle.wait_for("vlaArena.battle.turns.length === 2 && vlaArena.battle.can_explore")
    battle.wait_for("vlaArena.moment?.settled")
    yield "battle-exploration"
    battle.page.keyboard.press("?")
    yield "battle-keys"
    battle.page.keyboard.press("Escape")


def _around(battle: BattlePage) -> Iterator[str]:
    battle_id = battle.ask("vlaArena.battle.battle_id")
    model_id = battle.ask("vlaArena.battle.left_model.model_id")
    battle.open_ready(f"/b/{battle_id}")
    battle.wait_for("vlaArena.moment?.settled")
    yield "shared"
    pages = {
        "home": "/",
        "models": "/models",
        "model": f"/models/{model_id}",
        "leaderboard": "/leaderboard",
        "not-found": "/battle/battle_unknown",
    }
    for name, address in pages.items():
        battle.open(address)
        yield name


def _pause_at(battle: BattlePage, record: int) -> None:
    battle.part("stage").focus()
    if battle.ask("vlaArena.clock.playing"):
        battle.page.keyboard.press("Space")
    battle.page.keyboard.press("Home")
    for _ in range(record):
        battle.page.keyboard.press("ArrowRight")
