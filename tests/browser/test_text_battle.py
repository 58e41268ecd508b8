"""A text battle in a browser: two streams, a follow-up, the vote, what the answers took; no rule of axe is broken."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.battle_page import BattlePage
from tests.browser.test_accessibility import Look, broken_in
from tests.stack import FOR_TESTS, Arena
from tests.texts.servers import QUICK, SCRIPTS, ScriptedServer, answers, scripted_server
from tests.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.stack]
LOOKS: list[Look] = [("desktop", "light"), ("desktop", "dark"), ("phone", "dark")]
HOSTILE = (
    "# Title\n\nHere is **bold**, [a link](https://example.org/), ![a picture](https://evil.example/x.png) and "
    "<img src=x onerror=alert(1)>.\n\n```py\nprint(1)\n```\n\n$x^2$ for $5.\n"
)
ONE_KIND = (
    "from arena.models import Contestant as C; C.objects.filter(id__startswith='smollm2').update(status='retired')"
)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    SCRIPTS["hostile"] = answers(HOSTILE)
    with scripted_server() as running:
        yield running
    del SCRIPTS["hostile"]


@pytest.fixture(scope="module")
def text_arena(tmp_path_factory: pytest.TempPathFactory, server: ScriptedServer) -> Iterator[Arena]:
    arena = Arena(tmp_path_factory.mktemp("text"), **FOR_TESTS, ARENA_KINDS="robots,text")
    try:
        arena.start()
        arena.manage("shell", "-c", ONE_KIND)
        for script in ("quick", "hostile"):
            options = ["--url", server.url, "--served-name", script, "--name", f"The {script} one"]
            arena.manage("add_model", f"the-{script}", "--kind", "text", *options)
        wait_until_open(arena)
        yield arena
    finally:
        arena.close()


def wait_until_open(arena: Arena) -> None:
    """Until the worker for models has come and both are well."""
    deadline = time.monotonic() + 120
    while (answer := Visitor(arena.url).post("/api/sessions/init", {"kind": "text"}))[0] != 201:
        assert time.monotonic() < deadline, answer
        time.sleep(0.5)


@pytest.fixture
def battle(browser: Browser, text_arena: Arena) -> Iterator[BattlePage]:
    """With less motion colours change at once: none is judged half-way."""
    context = browser.new_context(base_url=text_arena.url.rstrip("/"), bypass_csp=True, reduced_motion="reduce")
    context.set_default_timeout(120_000)
    yield BattlePage(context.new_page())
    context.close()


def ask_and_wait(battle: BattlePage, prompt: str, answered: int) -> None:
    """Until both have answered so many prompts, and the vote is open."""
    battle.send(prompt)
    page = battle.page
    expect(page.locator("[data-turn]")).to_have_count(answered)
    expect(page.locator("#battle")).to_have_attribute("data-phase", "settled", timeout=120_000)
    expect(battle.part("vote")).to_have_attribute("data-open", "true", timeout=120_000)


def test_two_models_answer_follow_up_vote_and_reveal(battle: BattlePage) -> None:
    asked_elsewhere: list[str] = []
    battle.page.on("request", lambda request: asked_elsewhere.append(request.url))
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    broken = broken_in(battle, "new", LOOKS)

    ask_and_wait(battle, "Why is the sky blue?", 1)
    sides = {side: battle.page.locator(f"[data-side={side}]") for side in ("left", "right")}
    texts = {side: found.locator("[data-part=text]").inner_text() for side, found in sides.items()}
    [quick] = [side for side, text in texts.items() if QUICK in text]
    hostile = sides["right" if quick == "left" else "left"].locator("[data-part=text]")
    expect(hostile.locator("strong")).to_have_text("bold")
    expect(hostile.locator("a")).to_have_count(2)  # the picture is a link, too
    expect(hostile.locator("img, script, h1, h2")).to_have_count(0)
    expect(hostile.locator("code .hljs-built_in")).to_have_text("print")
    expect(hostile.locator("math msup")).to_have_count(1)
    broken |= broken_in(battle, "answered", LOOKS)
    assert "The quick one" not in battle.page.content()

    like = sides[quick].locator("[data-part=like]")
    like.click()
    expect(like).to_have_attribute("aria-pressed", "true")
    ask_and_wait(battle, "And at night?", 2)
    expect(like).to_have_attribute("aria-pressed", "false")
    like.click()
    expect(like).to_have_attribute("aria-pressed", "true")
    battle.page.reload()
    expect(like).to_have_attribute("aria-pressed", "true")
    expect(sides[quick].locator("[data-part=text]")).to_contain_text("scatters")

    expect(battle.part("vote")).to_have_attribute("data-open", "true")
    battle.page.keyboard.press("1" if quick == "left" else "4")
    expect(battle.part(f"verdict-{quick}")).to_have_text("The quick one")
    expect(battle.part(f"tokens-{quick}")).to_have_text("11 tokens")
    expect(battle.part(f"cost-{quick}")).to_have_text("unknown")
    expect(sides[quick].locator("[data-part=name]")).to_have_text("The quick one")
    broken |= broken_in(battle, "voted", LOOKS)
    assert broken == {}
    assert battle.complaints == []
    assert not [address for address in asked_elsewhere if "example" in address]


def test_a_prompt_has_lines_and_both_answers_can_be_turned_over_and_given_again(battle: BattlePage) -> None:
    battle.open("/text")
    page, box = battle.page, battle.page.locator("#instruction")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    battle.part("random").click()
    first = box.input_value()
    battle.part("random").click()
    assert first
    assert box.input_value() not in ("", first)
    box.fill("Why is")
    box.press("End")
    box.press("Shift+Enter")
    box.press_sequentially("the sky blue?")
    box.press("Enter")
    expect(battle.part("vote")).to_have_attribute("data-open", "true", timeout=120_000)

    battle.part("single").check()
    expect(page.locator("[data-side=right]")).to_be_hidden()
    expect(battle.part("which")).to_have_text("Answer 1 of 2")
    assert broken_in(battle, "one at a time", LOOKS) == {}
    battle.part("other").click()
    expect(page.locator("[data-side=left]")).to_be_hidden()
    expect(battle.part("which")).to_have_text("Answer 2 of 2")

    page.locator("[data-side=right] [data-part=again]").click()
    expect(page.locator("[data-turn]")).to_have_count(2)
    expect(battle.part("vote")).to_have_attribute("data-open", "false")
    expect(page.locator("[data-side=right] [data-part=text]")).not_to_be_empty(timeout=120_000)
    expect(page.locator("#battle")).to_have_attribute("data-phase", "settled", timeout=120_000)
    assert battle.part("turn-text").last.text_content() == "Why is\nthe sky blue?"
    battle.part("other").click()
    expect(page.locator("[data-side=left] [data-part=text]")).not_to_be_empty()
    assert battle.complaints == []


def test_answers_can_be_shown_when_both_are_done(battle: BattlePage) -> None:
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    battle.part("whole").check()
    ask_and_wait(battle, "Why is the sky blue?", 1)
    expect(battle.page.locator("[data-side] [data-part=text]").filter(has_text=QUICK)).to_have_count(1)


def test_a_server_that_fails_ends_the_turn_without_telling_whose_it_was(
    battle: BattlePage, server: ScriptedServer
) -> None:
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    server.down = True
    try:
        battle.send("Why is the sky blue?")
        failures = battle.page.locator("[data-side] [data-part=failure]")
        expect(failures.nth(0)).not_to_be_empty(timeout=120_000)
    finally:
        server.down = False
    told = failures.all_inner_texts()
    assert told[0] == told[1]
    assert "server" not in told[0].lower()
