"""A text battle in a browser: two streams, a follow-up, the vote, what the answers took; no rule of axe is broken."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.battle_page import BattlePage
from tests.browser.test_accessibility import Look, broken_in
from tests.browser.test_phone import SMALL, TOO_WIDE
from tests.stack import FOR_TESTS, Arena
from tests.texts.servers import QUICK, SCRIPTS, Answering, ScriptedServer, answers, scripted_server
from tests.visitor import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.stack]
LOOKS: list[Look] = [("desktop", "light"), ("desktop", "dark"), ("phone", "dark")]
HOSTILE = (
    "# Title\n\nHere is **bold**, [a link](https://example.org/), ![a picture](https://evil.example/x.png) and "
    "<img src=x onerror=alert(1)>.\n\n```py\nprint(1)\n```\n\n$x^2$ for $5.\n"
)
FIRST_WORDS = "These are the first words of an answer, and "
PLAYING = (
    "from texts.models import LanguageModel as M; M.objects.update(status='retired'); "
    "M.objects.filter(id__startswith={!r}).update(status='active')"
)
SCRIPTED, SMALL_MODEL = "the-", "smollm2"
"""With what the ids of contestants begin."""


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
        for script in ("quick", "hostile"):
            options = ["--url", server.url, "--served-name", script, "--name", f"The {script} one"]
            arena.manage("add_model", f"the-{script}", "--kind", "text", *options)
        let_play(arena, SCRIPTED)
        yield arena
    finally:
        arena.close()


def let_play(arena: Arena, contestants: str) -> None:
    """These alone, from when battles between them can be opened."""
    arena.manage("shell", "-c", PLAYING.format(contestants))
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


def speaks_until(released: threading.Event) -> Callable[[Answering], None]:
    """The first words at once, and more only when `released`."""

    def script(at: Answering) -> None:
        at.begin()
        at.delta(content=FIRST_WORDS)
        while not released.wait(0.1):
            at.raw(": ping\n\n")
        at.delta(content="the last ones.")
        at.end()

    return script


def text_of(battle: BattlePage, side: str) -> Locator:
    return battle.page.locator(f"[data-side={side}] [data-part=text]")


def test_words_are_shown_while_they_come_on_both_sides_and_stop_ends_both(
    battle: BattlePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    for script in ("quick", "hostile"):
        monkeypatch.setitem(SCRIPTS, script, speaks_until(released))
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    try:
        battle.send("Go on and on")
        for side in ("left", "right"):
            expect(text_of(battle, side)).to_contain_text("These are the first words")
            expect(text_of(battle, side)).to_have_attribute("aria-busy", "true")
        expect(battle.part("vote")).to_have_attribute("data-open", "false")
        battle.page.get_by_role("button", name="Cancel").click()
        expect(battle.page.locator("#battle")).to_have_attribute("data-phase", "idle")
        expect(battle.part("vote")).to_have_attribute("data-open", "false")
        expect(battle.page.locator("#instruction")).to_have_value("Go on and on")
    finally:
        released.set()
    ask_and_wait(battle, "And now to the end", 1)
    expect(text_of(battle, "left")).to_contain_text("the last ones.")
    assert battle.complaints == []


def test_an_answer_is_copied_as_it_was_written(battle: BattlePage) -> None:
    battle.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    ask_and_wait(battle, "Why is the sky blue?", 1)
    copied = set()
    for side in ("left", "right"):
        button = battle.page.locator(f"[data-side={side}] [data-part=copy]")
        button.click()
        expect(button).to_have_text("Copied")
        copied.add(battle.ask("navigator.clipboard.readText()").strip())
    assert copied == {QUICK, HOSTILE.strip()}
    ask_and_wait(battle, "And at night?", 2)
    expect(button).to_have_text("Copy")


def test_reasons_go_with_the_vote_and_the_battle_is_linked_listed_and_followed_by_another(
    browser: Browser, text_arena: Arena, battle: BattlePage
) -> None:
    page = battle.page
    battle.open("/text")
    page.get_by_text("Code", exact=True).click()
    page.get_by_role("button", name="undo the last commit").click()
    asked = page.locator("#instruction").input_value()
    ask_and_wait(battle, asked, 1)
    battle.part("reasons").locator("summary").click()
    assert battle.part("reasons").locator("legend").all_inner_texts() == [
        "More correct", "More helpful", "Clearer", "Better style",
    ]  # fmt: skip
    battle.part("reasons").locator("input[name=clear][value=right]").check(force=True)
    page.get_by_role("button", name="Both bad").click()
    expect(battle.part("verdict-title")).to_have_text("You voted: Both bad")
    expect(battle.part("said")).to_contain_text("Clearer: Right")
    names = {battle.part(f"verdict-{side}").inner_text() for side in ("left", "right")}
    assert names == {"The quick one", "The hostile one"}
    for side in ("left", "right"):
        address = battle.part(f"verdict-{side}").locator("a").get_attribute("href") or ""
        assert page.request.get(address).ok, address
        expect(battle.part(f"speed-{side}")).to_contain_text("first words after")
    link = battle.part("link").get_attribute("href") or ""
    voted = page.url

    page.keyboard.press("n")
    expect(page.locator("[data-turn]")).to_have_count(0)
    expect(text_of(battle, "left")).to_be_empty()
    expect(battle.part("verdict")).to_be_hidden()
    assert page.url != voted
    listed = page.locator(".session-battle, .session-link").filter(has_text=asked)
    expect(listed.first).to_contain_text("Both bad")
    listed.first.click()
    expect(battle.part("verdict-title")).to_have_text("You voted: Both bad")

    assert battle.complaints == []
    stranger = browser.new_context(base_url=text_arena.url.rstrip("/"), bypass_csp=True, reduced_motion="reduce")
    shared = BattlePage(stranger.new_page())
    shared.open(link)
    expect(shared.page.locator("h1")).to_contain_text("undo the last commit")
    expect(shared.page.locator("[data-side] [data-part=text]").filter(has_text=QUICK)).to_have_count(1)
    assert {shared.part(f"verdict-{side}").inner_text() for side in ("left", "right")} == names
    assert broken_in(shared, "shared", LOOKS) == {}
    assert shared.complaints == []
    stranger.close()


def test_a_battle_is_played_and_voted_with_keys_alone(battle: BattlePage) -> None:
    keyboard = battle.page.keyboard
    battle.open("/text")
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    keyboard.press("/")
    keyboard.type("Why is the sky blue?")
    keyboard.press("Enter")
    expect(battle.part("vote")).to_have_attribute("data-open", "true", timeout=120_000)
    keyboard.press("Escape")
    keyboard.press("w")
    expect(battle.part("whole")).to_be_checked()
    keyboard.press("o")
    expect(battle.part("which")).to_have_text("Answer 2 of 2")
    keyboard.press("2")
    expect(battle.part("verdict-title")).to_have_text("You voted: Tie")


def test_small_phones_show_all_in_their_width_and_in_german(browser: Browser, text_arena: Arena) -> None:
    context = browser.new_context(
        base_url=text_arena.url.rstrip("/"), viewport=SMALL, has_touch=True, locale="de-DE", reduced_motion="reduce"
    )
    context.set_default_timeout(120_000)
    battle = BattlePage(context.new_page())
    battle.open("/text")
    expect(battle.page.locator("h1")).to_have_text("Zwei Sprachmodelle antworten dir. Welche Antwort ist besser?")
    too_wide = ["new"] if battle.ask(TOO_WIDE) else []
    expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
    ask_and_wait(battle, "Warum ist der Himmel blau? " + "Donaudampfschifffahrtsgesellschaft" * 3, 1)
    for state in ("answered", "single"):
        if state == "single":
            battle.part("single").check()
            expect(battle.part("which")).to_have_text("Antwort 1 von 2")
            battle.part("other").tap()
        too_wide += [state] if battle.ask(TOO_WIDE) else []
    battle.page.locator("[data-vote=right_better]").tap()
    expect(battle.part("verdict-left")).not_to_be_empty()
    too_wide += ["voted"] if battle.ask(TOO_WIDE) else []
    context.close()
    assert too_wide == []
    assert battle.complaints == []


def test_the_small_model_beside_the_arena_is_asked_again_voted_on_and_ranked(
    battle: BattlePage, text_arena: Arena
) -> None:
    let_play(text_arena, SMALL_MODEL)
    try:
        battle.open("/text")
        expect(battle.part("send")).to_have_attribute("aria-disabled", "false")
        ask_and_wait(battle, "What is the capital of France?", 1)
        ask_and_wait(battle, "And of Italy?", 2)
        battle.part("again-both").click()
        expect(battle.page.locator("[data-turn]")).to_have_count(3)
        expect(battle.part("vote")).to_have_attribute("data-open", "true", timeout=120_000)
        for side in ("left", "right"):
            expect(text_of(battle, side)).to_have_text(re.compile("[a-z]{2}"))
        battle.page.keyboard.press("1")
        expect(battle.part("cost-left")).to_have_text("$0")
        expect(battle.part("tokens-right")).to_have_text(re.compile(r"\d+ tokens?"))
        winner = battle.part("verdict-left").inner_text()
        assert winner.startswith("SmolLM2 135M, ")
        text_arena.manage("rebuild_rankings")
        battle.open("/leaderboard?kind=text")
        expect(battle.page.get_by_role("main")).to_contain_text(winner)
        assert battle.complaints == []
    finally:
        let_play(text_arena, SCRIPTED)


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
