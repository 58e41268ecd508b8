"""Pictures of every state of every page, light and dark, on a phone and on a desk: `scripts/screenshots.py [URL]`.

Without an address an arena is started for it. The pictures go to build/screenshots/STATE-SIZE-THEME.png.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PATIENCE_MS = 120_000  # drawing in software on a busy machine takes its time
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.battle_page import BattlePage  # noqa: E402 - the repository is not installed as a package
from tests.browser.conftest import FLAGS, chromium  # noqa: E402
from tests.browser.tour import SIZES, THEMES, walk  # noqa: E402
from tests.stack import Arena  # noqa: E402


def main() -> None:
    wanted = _arguments()
    wanted.out.mkdir(parents=True, exist_ok=True)
    with _address(wanted.url) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(base_url=url.rstrip("/"), locale=wanted.language, viewport=SIZES["desktop"])
        for state in walk(BattlePage(page)):
            _take(page, state, wanted.out)
            print(state, flush=True)
        browser.close()


def _take(page: Page, state: str, out: Path) -> None:
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        for name, size in SIZES.items():
            page.set_viewport_size(size)
            page.wait_for_timeout(400)
            page.screenshot(path=out / f"{state}-{name}-{theme}.png", full_page=True, timeout=PATIENCE_MS)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(SIZES["desktop"])


@contextmanager
def _address(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder))
        try:
            arena.start()
            yield arena.url
        finally:
            arena.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", nargs="?", default="", help="a running arena; without it one is started")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--language", default="en", help="of the browser, such as de")
    return parser.parse_args()


if __name__ == "__main__":
    main()
