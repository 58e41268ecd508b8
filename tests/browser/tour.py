"""A walk through every state of every page, for whoever looks at them: the check of accessibility, the screenshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from playwright.sync_api import ViewportSize

from tests.browser import pretend
from tests.browser.battle_page import BattlePage

INSTRUCTION = "put the red cube on the left plate"
SIZES: dict[str, ViewportSize] = {"phone": {"width": 360, "height": 740}, "desktop": {"width": 1440, "height": 900}}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SETTLED = "Boolean(window.vlaArena?.ready && vlaArena.moment?.settled)"
DRAWN = "[...document.querySelectorAll('[data-part=veil]')].every((veil) => veil.hidden)"
LIVE_STEPS = 12
UNDO_S = 120
"""So long that whoever looks at a held vote has seen enough of it."""
PAGES = {
    "home": "/",
    "about": "/about/",
    "models": "/models",
    "gallery": "/battles/",
    "gallery-disagreements": "/battles/?q=red&show=disagreement",
    "gallery-nothing-found": "/battles/?q=xylophone",
    "leaderboard": "/leaderboard",
    "leaderboard-success-rates": "/leaderboard/physics",
    "leaderboard-style": "/leaderboard/style?kind=text",
    "leaderboard-pairs": "/leaderboard/pairs",
    "leaderboard-compare": "/leaderboard/compare",
    "leaderboard-checks": "/leaderboard/checks",
    "leaderboard-method": "/leaderboard/method",
    "benchmarks": "/benchmarks",
    "data": "/data/",
    "submit": "/submit/",
    "privacy": "/privacy/",
    "own-data": "/your-data/",
    "profile-without-account": "/profile/",
    "sign-in": "/account/login/",
    "sign-up": "/account/signup/",
    "sign-up-with-a-passkey": "/account/signup/passkey/",
    "wormarena": "/wormarena/",
    "wormarena-games": "/wormarena/games",
    "wormarena-pairs": "/wormarena/pairs",
    "wormarena-model": "/wormarena/model?name=greedy%20(reference%20player)",
    "not-found": "/battle/battle_unknown",
}
OF_A_BATTLE = {
    "forks": "/battle/{}/forks",
    "embedded": "/embed/battles/{}/",
    "report": "/b/{}/report",
    "reported": "/b/{}/reported",
}


def walk(battle: BattlePage, start: str = "/battle") -> Iterator[str]:
    """Goes from state to state and names each; the page stays there until the next is asked for."""
    yield from _to_the_vote(battle, start)
    yield from _after_the_vote(battle)
    yield from _around(battle)
    yield from _three_starts(battle)
    yield from _troubles(battle)


def _to_the_vote(battle: BattlePage, start: str) -> Iterator[str]:
    live = pretend.LiveTurn(battle.page)
    pretend.undo_seconds(battle.page, UNDO_S)
    battle.open_ready(start)
    battle.wait_for(DRAWN)
    yield "battle-idle"
    battle.page.locator(".category > summary").first.click()
    yield "battle-tasks"
    battle.page.locator(".category > summary").first.click()
    battle.play_turn(INSTRUCTION)
    live.show(battle, LIVE_STEPS)
    battle.page.reload()
    battle.wait_for(f"window.vlaArena?.ready && vlaArena.records('left') === {LIVE_STEPS + 1}")
    yield "battle-live"
    live.release()
    battle.page.unroute_all()
    battle.page.reload()
    battle.wait_for(SETTLED)
    battle.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    _pause_at(battle, 12)
    yield "battle-settled"
    battle.wait_for("vlaArena.insight !== null")
    battle.part("stage").focus()
    battle.page.keyboard.press("p")
    yield "battle-curves"
    battle.part("stage").focus()
    battle.page.keyboard.press("p")
    battle.page.keyboard.press("o")
    for overlay in ("joints", "paths", "ghost"):
        battle.page.locator(f"[data-overlay={overlay}]").check()
    yield "battle-overlays"
    for overlay in ("joints", "paths", "ghost"):
        battle.page.locator(f"[data-overlay={overlay}]").uncheck()
    battle.page.keyboard.press("Escape")
    battle.part("reasons").locator("summary").click()
    battle.part("reasons").locator("input[name=closer][value=left]").check(force=True)
    yield "battle-reasons"


def _after_the_vote(battle: BattlePage) -> Iterator[str]:
    battle.page.locator("[data-vote=left_better]").click()
    battle.part("send-now").wait_for()
    yield "battle-undo"
    battle.part("send-now").click()
    battle.wait_for("vlaArena.battle.status === 'voted'")
    battle.wait_for("!document.querySelector('[data-part=effect]').hidden")
    yield "battle-voted"
    battle.part("feedback").locator("summary").click()
    yield "battle-feedback"
    battle.part("feedback").locator("summary").click()
    battle.wait_for("vlaArena.exactness === 'here'")
    battle.part("stage").focus()
    battle.page.keyboard.press("y")
    battle.wait_for("vlaArena.checks !== null")
    yield "battle-check"
    battle.part("stage").focus()
    battle.page.keyboard.press("p")
    battle.page.keyboard.press("o")
    battle.page.locator("[data-overlay=contacts]").check()
    yield "battle-contacts"
    battle.page.locator("[data-overlay=contacts]").uncheck()
    battle.page.keyboard.press("Escape")
    battle.part("from-here").click()
    battle.wait_for("vlaArena.battle.turns.length === 2 && vlaArena.battle.can_explore")
    battle.wait_for(SETTLED)
    yield "battle-exploration"
    battle.part("stage").focus()
    battle.page.keyboard.press("?")
    yield "battle-keys"
    battle.page.keyboard.press("Escape")


def _around(battle: BattlePage) -> Iterator[str]:
    battle_id = battle.ask("vlaArena.battle.battle_id")
    model_id = battle.ask("vlaArena.battle.left_model.model_id")
    battle.open(f"/b/{battle_id}").wait_for(SETTLED)
    yield "shared"
    battle.page.locator(".embed-code summary").click()
    yield "shared-embed-code"
    of_this = {name: address.format(battle_id) for name, address in OF_A_BATTLE.items()}
    for name, address in {**PAGES, "model": f"/models/{model_id}", **of_this}.items():
        battle.open(address)
        yield name


def _three_starts(battle: BattlePage) -> Iterator[str]:
    battle.open_ready()
    battle.part("starts").locator("input").check()
    battle.send(INSTRUCTION)
    battle.wait_for("vlaArena.battle.turns.length === 3 && vlaArena.battle.turns[1].status === 'running'")
    yield "battle-starts-live"
    battle.wait_for("vlaArena.battle.can_vote")
    battle.page.locator("[data-turn]").first.click()
    battle.wait_for(SETTLED)
    yield "battle-starts"
    battle.page.locator("[data-vote=left_better]").click()
    battle.part("send-now").click()
    battle.wait_for("vlaArena.battle.status === 'voted' && vlaArena.exactness === 'here'")
    yield "battle-starts-voted"


def _troubles(battle: BattlePage) -> Iterator[str]:
    """What is hard to bring about is put between page and server."""
    page = battle.page
    page.route("**/*.stl", pretend.refuse(503, "scene_not_built"))
    battle.open()
    battle.side("left", "veil-retry").wait_for()
    yield "battle-no-scene"
    page.unroute("**/*.stl")

    battle.open_ready()
    page.route("**/turns", pretend.refuse(503, "queue_unavailable"))
    battle.send(INSTRUCTION)
    battle.part("error").wait_for()
    yield "battle-refused"
    page.unroute("**/turns")

    battle.play_turn(INSTRUCTION)
    pretend.hear_nothing(page)
    pretend.queue(battle, ahead=3, seconds=12)
    page.reload()
    battle.wait_for("document.querySelector('[data-part=live-text]').textContent.includes('3')")
    yield "battle-waiting"
    page.unroute_all()

    battle.open_ready(page.url).wait_for(SETTLED)
    pretend.fail(battle, "turn_failed")
    page.reload()
    battle.side("right", "failure").wait_for()
    yield "battle-failed"
    page.unroute_all()

    page.route("**/view.bin", pretend.refuse(503, "episodes_unavailable"))
    page.reload()
    battle.side("left", "veil-retry").wait_for()
    yield "battle-no-recording"
    page.unroute_all()

    pretend.hear_no_socket(page)
    page.reload()
    battle.part("connection").wait_for()
    yield "battle-unconnected"


def _pause_at(battle: BattlePage, record: int) -> None:
    battle.part("stage").focus()
    if battle.ask("vlaArena.clock.playing"):
        battle.page.keyboard.press("Space")
    battle.page.keyboard.press("Home")
    for _ in range(record):
        battle.page.keyboard.press("ArrowRight")
    battle.ask("document.activeElement.blur()")
