"""A voice battle in a browser with real speech: a microphone that speaks a recorded caller, two local agents, the vote,
the reveal with its figures; no rule of axe is broken. A caller who speaks while the agent does interrupts it. Needs
`make install-voice`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Playwright, expect

from tests.browser.battle_page import BattlePage
from tests.browser.conftest import FLAGS, chromium
from tests.browser.test_accessibility import Look, broken_in
from tests.stack import Arena
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
INTERRUPTS = "I would like to book a haircut on Thursday at four in the afternoon, please."
NOTES = """
const peak = (samples) => samples.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
window.noted = { spoken: [], played: [], cleared: [] };
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (data) {
  if (data instanceof Int16Array && peak(data) > 2000) noted.spoken.push(performance.now());
  return send.call(this, data);
};
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (data, ...more) {
  if (data === "clear") noted.cleared.push(performance.now());
  else if (data instanceof Int16Array && peak(data) > 500) noted.played.push(performance.now());
  return postMessage.call(this, data, ...more);
};
"""
"""Notes when the microphone is loud, when the loudspeaker gets something loud, and when it is cleared [ms]."""


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the microphone hears, spoken by the project's own voice."""
    return recorded(tmp_path_factory, zip(PAUSE_S, SAYS, strict=True))


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A caller who says another sentence every few seconds, whoever speaks."""
    return recorded(tmp_path_factory, [(2.5, INTERRUPTS)] * 12)


def recorded(folders: pytest.TempPathFactory, lines: Iterable[tuple[float, str]]) -> Path:
    """A microphone's file: each sentence after a pause [s]."""
    speech, audio = load_speech(), b""
    with ThreadPoolExecutor(1) as aside:  # this thread has Playwright's loop
        for pause_s, words in lines:
            spoken = aside.submit(lambda words=words: asyncio.run(_spoken(speech, words))).result()
            audio += bytes(2 * samples_in(pause_s * 1000)) + spoken
    path = folders.mktemp("caller") / "caller.wav"
    write_wav(path, audio + bytes(2 * samples_in(60_000)))
    return path


async def _spoken(speech: object, words: str) -> bytes:
    return bytes(await speech.audio_of(words))  # type: ignore[attr-defined]


@pytest.fixture
def page(playwright: Playwright, voice_arena: Arena, caller: Path) -> Iterator[Page]:
    with opened(playwright, voice_arena, caller) as page:
        yield page


@contextmanager
def opened(playwright: Playwright, arena: Arena, microphone: Path) -> Iterator[Page]:
    fake = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    fake += [f"--use-file-for-fake-audio-capture={microphone}%noloop", "--autoplay-policy=no-user-gesture-required"]
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


def test_two_agents_are_called_voted_on_and_told_with_their_figures(page: Page, voice_arena: Arena) -> None:
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
    status, told = Visitor(voice_arena.url).get(f"/api/battles/{battle_id}/agent-metrics")
    assert (status, told["status"] in ("partial", "complete")) == (200, True)


def test_a_caller_who_speaks_while_the_agent_does_silences_it(
    playwright: Playwright, voice_arena: Arena, impatient: Path
) -> None:
    with opened(playwright, voice_arena, impatient) as page:
        page.add_init_script(NOTES)
        page.goto("/voice?scenario_id=haircut")
        page.locator("[data-part=consent-box]").check()
        page.locator("[data-part=call]", has_text="agent A").click()
        page.wait_for_function("noted.cleared.length > 0 && performance.now() - noted.cleared[0] > 1500")
        noted = page.evaluate("noted")
    cleared = noted["cleared"][0]
    began = began_before(noted["spoken"], cleared)
    played = [at for at in noted["played"] if cleared - 500 < at < cleared]
    late = [at - cleared for at in noted["played"] if 150 < at - cleared < 1000]
    assert played, "the agent was speaking"
    assert cleared - began < 1500, f"interrupted {cleared - began:.0f} ms after the caller began to speak"
    assert not late, f"it went on speaking: {late}"


def test_a_browser_without_sound_says_so_and_the_call_is_not_begun(page: Page) -> None:
    page.add_init_script("AudioContext.prototype.resume = () => new Promise(() => {})")
    page.goto("/voice?scenario_id=haircut")
    page.locator("[data-part=consent-box]").check()
    call = page.locator("[data-part=call]", has_text="agent A")
    call.click()
    expect(page.locator("[data-part=desk-note]")).to_contain_text("Your browser plays no sound.", timeout=240_000)
    expect(call).to_be_enabled()


def began_before(spoken: list[float], moment: float, pause_ms: float = 700.0) -> float:
    """When the speech that goes on at this moment began."""
    until = [at for at in spoken if at < moment]
    began = until[-1]
    for earlier in reversed(until):
        if began - earlier > pause_ms:
            break
        began = earlier
    return began
