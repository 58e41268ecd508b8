"""Draws favicon.ico in `static/root`, for who asks for /favicon.ico, from the SVG: `scripts/favicon.py`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import FLAGS, chromium  # noqa: E402 - the repository is not installed as a package

SIZES = (16, 32, 48)


def main() -> None:
    picture = (ROOT / "static" / "images" / "favicon.svg").read_text("utf-8")
    drawn = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for size in SIZES:
            page = browser.new_page(viewport={"width": size, "height": size})
            page.set_content(
                f"<style>*{{margin:0}}svg{{display:block;width:{size}px;height:{size}px}}</style>{picture}"
            )
            drawn.append(Image.open(io.BytesIO(page.screenshot(omit_background=True))))
        browser.close()
    largest = drawn[-1]
    target = ROOT / "static" / "root" / "favicon.ico"
    largest.save(target, sizes=[(size, size) for size in SIZES], append_images=drawn[:-1], bitmap_format="png")
    print(target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
