"""`make test-blind`: an arena at its shipped defaults, many battles, and everything an outsider makes of them.

    python -m tests.blind.campaign --battles 160 --at-once 3
    python -m tests.blind.campaign --battles 160 --strangers    # with a slow, a fast and a failing remote policy

Exits with 1 when sides can be named beyond chance by anything but motion, or exactly.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import urllib.request
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import django

P_BOUND = 0.01
READY_WITHIN_S = 1200.0  # on a machine that does much else


def main() -> int:
    options = _options()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    from tests.blind import kept
    from tests.blind.report import told

    with tempfile.TemporaryDirectory(prefix="vla-arena-blind-") as folder:
        keep = options.again or options.keep or Path(folder) / "battles.jsonl"
        if not options.again:
            _play(options, Path(folder) / "var", keep)
        battles, manifest = kept.read(keep)
    found = told(battles, manifest, options.deals, options.attacks)
    print(json.dumps(found, indent=1))
    leaks = found["form and time"]["p"] < P_BOUND or found["networks run"]["exactly"]["named"] > 0
    print("sides can be named beyond motion" if leaks else "nothing but motion names a side", file=sys.stderr)
    return int(leaks)


def _play(options: argparse.Namespace, folder: Path, keep: Path) -> None:
    """Play what the file lacks of the battles, in an arena of its own."""
    from tests.blind import kept
    from tests.blind.peek import peek_at_many
    from tests.blind.strangers import strangers
    from tests.stack import Arena

    done = len(kept.read(keep)[0]) if keep.exists() else 0
    if done >= options.battles:
        return
    arena = Arena(folder)
    try:
        arena.start(ready_within=READY_WITHIN_S)
        kept.begin(keep, manifest_of(arena.url))
        with strangers(arena) if options.strangers else nullcontext():
            todo = options.battles - done
            seed = options.seed + done
            peek_at_many(arena.url, todo, options.at_once, seed, options.tries, partial(kept.add, keep))
    finally:
        arena.close()


def manifest_of(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}api/scenes/widowx/table/", timeout=30) as response:
        manifest: dict[str, Any] = json.loads(response.read())
        return manifest


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=160)
    parser.add_argument(
        "--at-once", type=int, default=3, help="battles side by side: many would hide what timing tells"
    )
    parser.add_argument("--deals", type=int, default=999, help="permutations")
    parser.add_argument("--attacks", type=int, default=75, help="battles on whose sides all networks are run")
    parser.add_argument("--strangers", action="store_true", help="add a slow, a fast and a failing remote policy")
    parser.add_argument("--tries", type=int, default=4, help="how often a turn that fails is sent")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a file of what was seen, which a later run goes on with")
    parser.add_argument("--again", type=Path, help="look again at what such a file has, and play nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
