"""The options of `manage.py train film`. Importing this module loads no network library."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies.base import DatasetError

if TYPE_CHECKING:
    from policies.film.training import FilmTrainer
    from policies.training.dataset import Demonstrations
    from policies.training.loop import Pace

SAMPLES = 750_000
EXECUTE = 2  # actions of a chunk to play before the next look


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--text-dim", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument(
        "--pictures", type=int, default=1, choices=(1, 2), help="2: also that of the beginning of the turn"
    )
    parser.add_argument(
        "--stages", type=int, default=0, help="of a goal that the network can remember, counted from none; 0: no memory"
    )
    parser.add_argument(
        "--move-bins", type=bins, default=0, help="of dx, dy, dz each, to draw from where the hand has stalled; 0: none"
    )
    parser.add_argument("--learning-rate", type=float, default=1.5e-3)
    parser.add_argument(
        "--start-from", type=Path, help="policy folder whose weights, words and statistics to begin with"
    )
    parser.add_argument(
        "--mixed",
        type=share,
        default=0.0,
        help="with --start-from: share of its weights in those that are exported, 0..1",
    )
    parser.add_argument("--mute", action="store_true", help="never show the instruction to the network")


def bins(text: str) -> int:
    """Of an option."""
    if not text.isdecimal() or int(text) == 1:
        raise ArgumentTypeError(f"expected 0 or at least 2, got {text}")
    return int(text)


def share(text: str) -> float:
    """Of an option."""
    with suppress(ValueError):
        if 0.0 <= float(text) < 1.0:
            return float(text)
    raise ArgumentTypeError(f"expected at least 0 and less than 1, got {text}")


def begin(options: Mapping[str, Any], demos: Demonstrations, pace: Pace) -> FilmTrainer:
    from policies.film.training import FilmPlan, FilmTrainer
    from policies.film.warm_start import WarmStart

    plan = FilmPlan.from_options(options, language=not options["mute"])
    start = WarmStart.read(options["start_from"]) if options["start_from"] else None
    if options["mixed"] and start is None:
        raise DatasetError(f"mixed {options['mixed']}: there is nothing to mix with; pass --start-from")
    return FilmTrainer(demos, plan, options["run"], pace, start, options["mixed"])
