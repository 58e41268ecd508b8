"""Draws the site's own social picture from the battle that `scripts/exhibit.py` recorded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

import django  # noqa: E402 - the repository is not installed as a package

django.setup()

from arena.drawings.asking import GENERAL_PREVIEW  # noqa: E402
from arena.drawings.preview import compose_general  # noqa: E402

EXHIBITION = ROOT / "static" / "exhibition"


def main() -> None:
    left, right = ((EXHIBITION / f"{side}.webp").read_bytes() for side in ("left", "right"))
    GENERAL_PREVIEW.write_bytes(compose_general(left, right))
    print(GENERAL_PREVIEW.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
