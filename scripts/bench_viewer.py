"""The viewer's part of `make bench`: Chromium with software rendering, on the arena that bench.py has started.

Frame rates are given as time per frame, so that less is better in the whole table. The canvas is 480 x 360.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from playwright.sync_api import Browser, BrowserContext, Request, sync_playwright

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import FLAGS, chromium
from tests.stack import Arena

INSTRUCTION = "put the red cube on the left plate"
PLAY_S = 6.0
# Notes when live steps arrive, when the first and the last of their rows are drawn, and how long the clock waits for
# rows once there is motion. A step lasts 0.2 s and has five rows; record k stands at the end of step k.
WATCH_LIVE = """() => {
  const [STEP, ROW] = [0.2, 0.04];
  window.batches = [];
  window.stalled = 0;
  let known = 0;
  let before = performance.now();
  setInterval(() => {
    const count = window.vlaArena?.clock?.growing ? vlaArena.records('left') : 0;
    const came = performance.now();
    if (count > known) batches.push({ first: known, records: count, came, begun: null, shown: null });
    known = count;
  }, 4);
  const look = () => {
    const now = performance.now();
    const drawn = window.vlaArena?.clock ? vlaArena.clock.time + 1e-6 : -1;
    for (const batch of batches) {
      if (batch.begun === null && drawn >= (batch.first - 1) * STEP + ROW) batch.begun = now;
      if (batch.shown === null && drawn >= (batch.records - 1) * STEP) batch.shown = now;
    }
    const moves = batches.some((batch) => batch.first > 0 && batch.begun !== null);
    if (moves && vlaArena.clock.waiting) stalled += now - before;
    before = now;
    requestAnimationFrame(look);
  };
  look();
}"""
FIX_SIZE = """() => {
  for (const screen of document.querySelectorAll('.screen'))
    Object.assign(screen.style, { width: '480px', height: '360px', maxHeight: 'none', aspectRatio: 'auto' });
}"""


class Reading(NamedTuple):
    """The arguments of `bench.spread`: values, their unit and the largest acceptable median."""

    name: str
    values: list[float]
    unit: str
    target: float | None
    note: str = ""


def measure(arena: Arena, visits: int = 5, battles: int = 20) -> Iterator[Reading]:
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as browser,
    ):
        yield from visits_of(browser, arena, visits)
        yield from turns_of(browser, arena, visits)
        yield from many_battles(browser, arena, battles)


def noting(seen: list[Request]) -> Callable[[Request], None]:
    """A handler of a function's kind: Playwright takes no method of a list."""
    return lambda request: seen.append(request)


def visits_of(browser: Browser, arena: Arena, count: int) -> Iterator[Reading]:
    """First visits with an empty cache, and a second visit after each."""
    usable: list[float] = []
    first: list[int] = []
    second: list[int] = []
    for _ in range(count):
        context = new_context(browser, arena)
        for sizes in (first, second):
            battle = BattlePage(context.new_page())
            requests: list[Request] = []
            battle.page.on("requestfinished", noting(requests))  # of page and worker
            began = time.perf_counter()
            battle.open_ready()
            if sizes is first:
                usable.append(time.perf_counter() - began)
            sizes.append(on_the_wire(requests))
            battle.page.close()
        context.close()
    yield Reading("battle page usable, first visit", usable, "s", 1.5)
    yield Reading("transferred at the first visit", [size / 1e6 for size in first], "MB", 2.5)
    yield Reading("transferred at the next visit", [size / 1e3 for size in second], "kB", 50)


def turns_of(browser: Browser, arena: Arena, count: int) -> Iterator[Reading]:
    motion, begun, shown, stalls, frames, costs = [], [], [], [], [], []
    context = new_context(browser, arena)
    for _ in range(count):
        battle = BattlePage(context.new_page()).open_ready("/battle?quality=lite")
        battle.ask(FIX_SIZE)
        battle.ask(WATCH_LIVE)
        battle.page.locator("#instruction").fill(INSTRUCTION)
        sent = battle.ask("performance.now()")
        battle.page.locator("[data-part=send]").click()
        battle.wait_for("vlaArena.battle.turns.length === 1 && vlaArena.battle.can_send")
        batches: list[dict[str, Any]] = [batch for batch in battle.ask("batches") if batch["shown"] is not None]
        moving = [batch["shown"] for batch in batches if batch["records"] > 1]
        motion += [(min(moving) - sent) / 1000] if moving else []
        begun += [batch["begun"] - batch["came"] for batch in batches[1:]]
        shown += [batch["shown"] - batch["came"] for batch in batches[1:]]
        stalls.append(battle.ask("stalled"))
        battle.wait_for("vlaArena.insight !== null && !vlaArena.clock.growing")
        frames.append(frame_time(battle))
        costs.append(battle.ask("vlaArena.physics.cost"))
        battle.page.close()
    context.close()
    yield Reading("click to first motion", motion, "s", 3.0, "of it 1 s buffer, and 0.4 s until two steps are here")
    yield Reading("a step's first row is on the screen after it came", begun, "ms", 200, "its motion lasts 200 ms")
    yield Reading("a step's last row is on the screen after it came", shown, "ms", 400, "with its motion")
    yield Reading(
        "a live turn's motion waits for steps", stalls, "ms", 400, "of 10 s; each step comes by the release clock"
    )
    yield Reading("a picture of two viewers, lite, software", frames, "ms", 1000 / 30, "480 x 360")
    yield Reading("the engine in a picture", costs, "ms", 2)


def frame_time(battle: BattlePage) -> float:
    """Milliseconds per frame while the replay plays in a loop."""
    battle.page.get_by_role("button", name="Repeat").click()
    if not battle.ask("vlaArena.clock.playing"):
        battle.page.locator("[data-part=play]").click()
    before = battle.ask("[vlaArena.drawing.drawn, performance.now()]")
    battle.page.wait_for_timeout(1000 * PLAY_S)
    after = battle.ask("[vlaArena.drawing.drawn, performance.now()]")
    return float((after[1] - before[1]) / max(1, after[0] - before[0]))


def many_battles(browser: Browser, arena: Arena, count: int) -> Iterator[Reading]:
    """Memory growth of one tab over many battles: after the last, compared with after the fifth."""
    context = new_context(browser, arena, reduced_motion="reduce")
    battle = BattlePage(context.new_page()).open_ready("/battle?quality=coarse")
    devtools = context.new_cdp_session(battle.page)
    heaps, censuses = [], []
    for _ in range(count):
        battle.play_turn(INSTRUCTION)
        battle.wait_for("vlaArena.insight !== null")
        devtools.send("HeapProfiler.collectGarbage")
        heaps.append(devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
        censuses.append(battle.ask("vlaArena.census()"))
        known = battle.ask("vlaArena.battle.battle_id")
        battle.page.locator("[data-part=new-session]").click()
        battle.wait_for(f"vlaArena.battle && vlaArena.battle.battle_id !== '{known}'")
    context.close()
    settled = min(5, count - 1)
    yield Reading(f"heap grown over {count} battles in one tab", [heaps[-1] - heaps[settled]], "MB", 3)
    grown = sum(one != censuses[settled] for one in censuses[settled:])
    yield Reading("battles after which card or engine kept more", [float(grown)], "", 0)


def new_context(browser: Browser, arena: Arena, **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=arena.url.rstrip("/"), viewport={"width": 1280, "height": 900}, **options)
    context.set_default_timeout(60_000)
    return context


def on_the_wire(requests: list[Request]) -> int:
    """Bytes transferred, headers included. Responses from the cache count nothing."""
    sizes = [request.sizes() for request in requests]
    return sum(max(0, size["responseBodySize"]) + max(0, size["responseHeadersSize"]) for size in sizes)
