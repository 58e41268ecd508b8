"""What `manage.py train film` takes, and what it does with it. Importing this loads no network library."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policies.base import PolicyCard
    from policies.film.training import FilmTrainer
    from policies.training.dataset import Demonstrations
    from policies.training.export import Naming
    from policies.training.loop import Pace

SAMPLES = 750_000
EXECUTE = 2  # actions of a chunk to play before the next look


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--channels", type=int, default=32)
    parser.add_argument("--mute", action="store_true", help="never show the instruction to the network")


def begin(options: Mapping[str, Any], demos: Demonstrations, pace: Pace) -> FilmTrainer:
    from policies.film.training import FilmPlan, FilmTrainer

    plan = FilmPlan(
        samples=options["samples"],
        seed=options["seed"],
        fraction=options["fraction"],
        language=not options["mute"],
        channels=options["channels"],
        batch=options["batch"],
    )
    return FilmTrainer(demos, plan, options["run"], pace)


def finish(trainer: FilmTrainer, naming: Naming, folder: Path) -> PolicyCard:
    from policies.film.export import export

    return export(trainer, naming, folder)
