"""A voice battle in a browser with real speech: a microphone that speaks a recorded caller, two local agents, the vote,
the reveal with its figures; no rule of axe is broken. Needs `make install-voice`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Playwright, expect

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import FLAGS, chromium
from tests.browser.test_accessibility import Look, broken_in
from tests.ports import free_port
from tests.stack import FOR_TESTS, Arena
from tests.visitor import Visitor
from voice.scenarios.reading import shipped
from voice.scenarios.slots import plain
from voice.speech.audio import samples_in, write_wav
from voice.speech.models import load_speech

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.slow]
LOOKS: list[Look] = [("desktop", "light"), ("desktop", "dark"), ("phone", "dark")]
PAUSE_S = (7, 12, 12, 12)
"""Before each sentence of the recorded caller: as long as a greeting or an answer takes."""
SAYS = (
    "Hi, I would like to book a haircut on Thursday at four p.m.",
    "My name is Jordan Miller.",
    "Yes, please.",
    "No, thank you. Goodbye.",
)
ONLY_RULES = "from arena.models import Contestant as C; C.objects.filter(pk='local-language').update(status='retired')"


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the microphone hears, spoken by the project's own voice."""
    speech, audio = load_speech(), b""
    with ThreadPoolExecutor(1) as aside:  # this thread has Playwright's loop
        for pause_s, words in zip(PAUSE_S, SAYS, strict=True):
            spoken = aside.submit(lambda words=words: asyncio.run(_spoken(speech, words))).result()
            audio += bytes(2 * samples_in(pause_s * 1000)) + spoken
    path = tmp_path_factory.mktemp("caller") / "caller.wav"
    write_wav(path, audio + bytes(2 * samples_in(60_000)))
    return path


async def _spoken(speech: object, words: str) -> bytes:
    return bytes(await speech.audio_of(words))  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    port = str(free_port())
    found = Arena(tmp_path_factory.mktemp("voice"), **FOR_TESTS, ARENA_KINDS="robots,voice", ARENA_VOICE_PORT=port)
    try:
        found.start()
        found.manage("shell", "-c", ONLY_RULES)
        yield found
    finally:
        found.close()


@pytest.fixture
def page(playwright: Playwright, arena: Arena, caller: Path) -> Iterator[Page]:
    fake = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    fake += [f"--use-file-for-fake-audio-capture={caller}%noloop", "--autoplay-policy=no-user-gesture-required"]
    with playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *fake]) as browser:
        context = browser.new_context(base_url=arena.url.rstrip("/"), bypass_csp=True, reduced_motion="reduce")
        context.grant_permissions(["microphone"])
        context.set_default_timeout(240_000)
        yield context.new_page()


def hold(page: Page, label: str) -> list[str]:
    """Call an agent, let the recorded caller speak, and hang up. Answers the words of both."""
    page.locator("[data-part=call]", has_text=f"agent {label}").click()
    lines = page.locator("[data-part=desk] [data-part=lines] li")
    expect(lines.filter(has_text="haircut").first).to_be_visible(timeout=240_000)
    expect(page.locator("[data-part=desk] [data-part=lines] li[data-role=caller]").first).to_be_visible(timeout=240_000)
    page.wait_for_timeout(25_000)  # the recorded caller goes on by the clock, whatever the agent does
    said = lines.all_inner_texts()
    if page.locator("[data-part=hang-up]").is_visible():
        page.locator("[data-part=hang-up]").click()
    return said


def test_two_agents_are_called_voted_on_and_told_with_their_figures(page: Page, arena: Arena) -> None:
    page.goto("/voice?scenario_id=haircut")
    call = page.locator("[data-part=call]")
    expect(call).to_be_disabled()
    assert not broken_in(BattlePage(page), "voice", LOOKS)
    page.locator("[data-part=consent-box]").check()
    first = hold(page, "A")
    expect(page.locator("[data-part=call]", has_text="agent B")).to_be_visible(timeout=240_000)
    second = hold(page, "B")
    for said in (first, second):
        assert "haircut" in plain(" ".join(said)).split()
        assert shipped()["haircut"].greeting in " ".join(said)
    expect(page.locator("[data-part=vote]")).to_have_attribute("data-open", "true", timeout=240_000)
    assert not broken_in(BattlePage(page), "voice", LOOKS)
    page.locator("[data-vote=left_better]").click()
    expect(page.locator("[data-part=provider-left]")).to_have_text("local", timeout=240_000)
    expect(page.locator("[data-part=latency-left]")).to_contain_text(" s", timeout=400_000)
    expect(page.locator("[data-part=latency-right]")).to_contain_text(" s", timeout=400_000)
    assert not broken_in(BattlePage(page), "voice", LOOKS)
    battle_id = urlsplit(page.url).path.rsplit("/", 1)[1]
    status, told = Visitor(arena.url).get(f"/api/battles/{battle_id}/agent-metrics")
    assert (status, told["status"] in ("partial", "complete")) == (200, True)
