"""A voice battle in Firefox as it is shipped, with a sound device without hardware: both agents hear and are heard, and
the vote opens. Needs `make install-voice` and scripts/for_test_slow.sh."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.browser.firefox import Firefox, firefox
from tests.browser.sound import SoundCard, sound_card
from tests.stack import Arena
from voice.scenarios.reading import shipped
from voice.scenarios.slots import plain
from voice.speech.models import load_speech
from voice.speech.parts import Speech

pytestmark = [pytest.mark.browser, pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(1800)]
SAYS = (
    "Hi, I would like to book a haircut on Thursday at four p.m.",
    "My name is Jordan Miller.",
    "No, thank you. Goodbye.",
)
Said = TypeVar("Said")
DESK = "document.querySelector('[data-part=desk]').dataset"
LINES = "[data-part=desk] [data-part=lines] li"


@pytest.fixture(scope="module")
def speech() -> Speech:
    return load_speech()


@pytest.fixture
def card(tmp_path: Path) -> Iterator[SoundCard]:
    folder = tmp_path / "sound"
    folder.mkdir(mode=0o700)
    with sound_card(folder) as card:
        yield card


@pytest.fixture
def page(tmp_path: Path, card: SoundCard) -> Iterator[Firefox]:
    folder = tmp_path / "profile"
    folder.mkdir()
    with firefox(folder, **card.environment) as page:
        page.resize(1280, 900)
        yield page


def aside(work: Callable[[], Coroutine[Any, Any, Said]]) -> Said:
    """What comes of it in a thread of its own: other tests of this folder leave Playwright's loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def call(page: Firefox, card: SoundCard, speech: Speech, label: str) -> None:
    """Call the agent, and say each sentence once it has said something more."""
    page.wait(f"{DESK}.state === 'briefing' && {DESK}.label === '{label}'")
    page.click("[data-part=call]")
    page.wait(f"{DESK}.state === 'calling'")
    for count, words in enumerate(SAYS):
        of_agent = f"document.querySelectorAll({json.dumps(LINES + '[data-role=agent]')}).length"
        page.wait(f"{of_agent} > {count} || {DESK}.state !== 'calling'")
        card.say(aside(lambda words=words: speech.audio_of(words)))
    page.wait(f"{DESK}.state !== 'calling'")


def test_both_agents_hear_and_are_heard_and_the_vote_tells_who_they_were(
    page: Firefox, card: SoundCard, speech: Speech, voice_arena: Arena, tmp_path: Path
) -> None:
    page.open(f"{voice_arena.url}voice?scenario_id=haircut")
    page.click("[data-part=consent-box]")
    for label in ("a", "b"):
        with card.recorded(tmp_path / "heard"):
            call(page, card, speech, label)
            time.sleep(1)
        heard = aside(lambda: speech.text_of((tmp_path / "heard").read_bytes()))
        assert set(plain(shipped()["haircut"].greeting).split()) <= set(plain(heard).split()), heard
    page.wait("document.querySelector('[data-part=vote]').dataset.open === 'true'")
    for side in ("left", "right"):
        said = page.texts(f"[data-side={side}] li[data-role=caller]")
        assert "haircut" in plain(" ".join(said)).split()
        assert "miller" in plain(" ".join(said)).split()
    page.click("[data-vote=left_better]")
    page.wait("document.querySelector('[data-part=provider-left]').innerText === 'local'")
