"""The desk of a voice battle without a microphone, its shared page, and the page in German on a small phone. Needs
`make install-voice`."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.stack import Arena
from voice.scenarios.slots import plain

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(1800)]
PATIENT_MS = 240_000
WANTS = "Hi, I would like to book a haircut on Thursday at four p.m."


@pytest.fixture
def context(browser: Browser, voice_arena: Arena) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=voice_arena.url.rstrip("/"), reduced_motion="reduce")
    context.set_default_timeout(PATIENT_MS)
    yield context
    context.close()


def type_to(page: Page, label: str) -> None:
    """Call an agent, say by typing what is wanted, wait until it answers, and hang up."""
    page.locator("[data-part=call]", has_text=f"agent {label}").click()
    expect(page.locator("[data-part=phone-state]")).to_contain_text("gave no microphone", timeout=PATIENT_MS)
    lines = page.locator("[data-part=desk] [data-part=lines]")
    expect(lines.locator("li[data-role=agent]")).to_have_count(1, timeout=PATIENT_MS)
    page.locator("[data-part=typed-words]").fill(WANTS)
    page.locator("[data-part=typed-words]").press("Enter")
    expect(lines.locator("li[data-role=agent]")).to_have_count(2, timeout=PATIENT_MS)
    assert "haircut" in plain(lines.locator("li[data-role=caller]").inner_text()).split()
    page.locator("[data-part=hang-up]").click()


def test_without_a_microphone_words_are_typed_and_others_hear_what_was_allowed(
    context: BrowserContext,
    browser: Browser,
    voice_arena: Arena,
) -> None:
    page = context.new_page()
    page.goto("/voice?scenario_id=haircut")
    expect(page.locator("[data-part=call]")).to_be_disabled()
    expect(page.get_by_text("Use headphones if you can")).to_be_visible()
    page.locator("[data-part=consent-box]").check()
    page.locator("[data-part=publish-box]").check()
    type_to(page, "A")
    type_to(page, "B")
    expect(page.locator("[data-part=vote]")).to_have_attribute("data-open", "true", timeout=PATIENT_MS)
    page.locator("[data-vote=tie]").click()
    expect(page.locator("[data-part=provider-left]")).to_have_text("local", timeout=PATIENT_MS)
    battle_id = urlsplit(page.url).path.rsplit("/", 1)[1]
    assert page.locator(f"a[href*='{battle_id}']").count() > 0, "the history has it"
    stranger = browser.new_context(base_url=voice_arena.url.rstrip("/"))
    other = stranger.new_page()
    other.goto(f"/b/{battle_id}")
    for side in ("left", "right"):
        part = other.locator(f"[data-side={side}]")
        expect(part.locator("li[data-role=caller]").first).to_contain_text("haircut", timeout=PATIENT_MS)
        for whose in ("caller", "agent"):
            source = part.locator(f"[data-part={whose}-audio]").get_attribute("src")
            assert stranger.request.get(str(source)).ok
    stranger.close()


def test_the_page_fits_a_small_phone_in_german(browser: Browser, voice_arena: Arena) -> None:
    size = {"width": 360, "height": 740}
    context = browser.new_context(base_url=voice_arena.url.rstrip("/"), locale="de-DE", viewport=size)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto("/voice?scenario_id=haircut")
    expect(page.locator("[data-part=consent]")).to_contain_text("aufgenommen", timeout=PATIENT_MS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    context.close()
