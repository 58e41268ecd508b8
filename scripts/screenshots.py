"""Screenshots of every state of every page, light and dark, in phone and desktop size: `scripts/screenshots.py [URL]`.

Without a URL it starts an arena. The files are build/screenshots/STATE-SIZE-THEME.png. Each shows the whole page: the
window is made as tall as the page, so that it draws once, unlike a full-page screenshot.

`--guide` takes the pictures of the visitors' guide and the README in full quality into docs/images instead. Run that on
an otherwise idle machine.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.battle_page import BattlePage  # noqa: E402 - the repository is not installed as a package
from tests.browser.conftest import FLAGS, chromium  # noqa: E402
from tests.browser.tour import SIZES, THEMES, walk  # noqa: E402
from tests.stack import Arena  # noqa: E402

TIMEOUT_MS = 120_000  # software rendering on a busy machine is slow
TALLEST = 3200
Theme = Literal["light", "dark"]
GUIDE: dict[str, tuple[str, str, Theme]] = {
    "battle-idle": ("idle", "desktop", "light"),
    "battle-settled": ("battle", "desktop", "light"),
    "battle-check": ("curves", "desktop", "light"),
    "battle-reasons": ("phone", "phone", "dark"),
    "battle-voted": ("after-the-vote", "desktop", "light"),
    "home": ("home", "desktop", "light"),
}
"""State -> the picture in docs/images, and how it is taken."""
WEBP_QUALITY = 76
TWO_PICTURES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


def main() -> None:
    wanted = _arguments()
    wanted.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with _address(wanted.url) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        # With reduced motion nothing plays by itself, so that every screenshot is static.
        context = browser.new_context(
            base_url=url.rstrip("/"), locale=wanted.language, viewport=SIZES["desktop"], reduced_motion="reduce"
        )
        context.set_default_timeout(TIMEOUT_MS)
        page = context.new_page()
        for state in walk(BattlePage(page), f"/battle?quality={'full' if wanted.guide else wanted.quality}"):
            if wanted.guide:
                _take_for_guide(page, state)
            elif wanted.only in state:
                _take(page, state, wanted.out)
            print(f"{time.monotonic() - began:5.0f} s  {state}", flush=True)
            if wanted.guide and state == list(GUIDE)[-1]:
                break
        browser.close()


def _take(page: Page, state: str, out: Path) -> None:
    for name in SIZES:
        with _window(page, name):
            for theme in THEMES:
                (out / f"{state}-{name}-{theme}.png").write_bytes(_picture(page, theme))


def _take_for_guide(page: Page, state: str) -> None:
    if state not in GUIDE:
        return
    while page.locator("img[data-drawing]").count():  # a worker is still drawing it
        page.wait_for_timeout(2000)
        page.reload()
    name, size, theme = GUIDE[state]
    with _window(page, size), Image.open(io.BytesIO(_picture(page, theme))) as picture:
        picture.convert("RGB").save(ROOT / "docs" / "images" / f"{name}.webp", quality=WEBP_QUALITY, method=6)


@contextmanager
def _window(page: Page, name: str) -> Iterator[None]:
    """Resize the window to the named width and to the height of the page."""
    size = SIZES[name]
    page.set_viewport_size(size)
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(max(height, size["height"]), TALLEST)})
    yield
    page.set_viewport_size(SIZES["desktop"])


def _picture(page: Page, theme: Theme) -> bytes:
    """A PNG of the window in this theme. Resets the theme to light."""
    page.emulate_media(color_scheme=theme)
    page.evaluate(TWO_PICTURES)
    taken = page.screenshot(animations="disabled")
    page.emulate_media(color_scheme="light")
    return taken


@contextmanager
def _address(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder), ARENA_KINDS="")
        try:
            arena.start()
            yield arena.url
        finally:
            arena.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="", help="a running arena; default: start one")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--language", default="en", help="the browser's language, such as de")
    parser.add_argument("--guide", action="store_true", help="take the pictures of docs/images")
    parser.add_argument("--quality", default="", help="rendering quality of the battle: full, lite or coarse")
    parser.add_argument("--only", default="", help="only states with this in their name")
    return parser.parse_args()


if __name__ == "__main__":
    main()
