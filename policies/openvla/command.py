"""The options of `manage.py train openvla`. Importing this module loads no network library."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from policies.openvla.training import OpenVLATrainer
    from policies.training.dataset import Demonstrations
    from policies.training.loop import Pace

SAMPLES = 200_000
EXECUTE = 1  # OpenVLA answers one action at a time


def add_options(parser: ArgumentParser) -> None:
    parser.set_defaults(batch=32)
    parser.add_argument("--towers-only", action="store_true", help="train the vision towers alone, on free labels")
    parser.add_argument("--start-from", type=Path, help="run folder whose averaged weights to begin with")
    parser.add_argument("--tower-rate", type=float, default=1.0, help="the towers' share of the learning rate")
    parser.add_argument("--learning-rate", type=float, default=1.5e-3)


def begin(options: Mapping[str, Any], demos: Demonstrations, pace: Pace) -> OpenVLATrainer:
    from policies.openvla.training import OpenVLAPlan, OpenVLATrainer
    from policies.training.checkpoint import read_progress

    start: Path | None = options["start_from"]
    origin = f"{start.name}, {read_progress(start)['samples']} samples" if start else ""
    trainer = OpenVLATrainer(demos, OpenVLAPlan.from_options(options, origin=origin), options["run"], pace)
    if start:
        trainer.start_from(start)
    return trainer
