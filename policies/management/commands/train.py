"""`manage.py train FAMILY`: train on demonstrations and write a policy folder."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from policies.base import PolicyError
from simulation.contracts import Chunking

# Family -> module with SAMPLES, EXECUTE, add_options(parser) and begin(options, demos, pace) -> training run.
TRAINERS = {"film": "policies.film.command", "openvla": "policies.openvla.command", "octo": "policies.octo.command"}

MOST_REPEATS = 100  # of a frame in a pass


def _repeat(text: str) -> tuple[str, int]:
    """TASK=N."""
    task, sign, times = text.partition("=")
    if not (task and sign and times.isdecimal() and 1 <= int(times) <= MOST_REPEATS):
        raise ArgumentTypeError(f"expected TASK=N with N from 1 to {MOST_REPEATS}, got {text!r}")
    return task, int(times)


class Command(BaseCommand):
    help = "Train a policy on demonstrations and write its folder. --resume continues a stopped run exactly."

    def add_arguments(self, parser: ArgumentParser) -> None:
        families = parser.add_subparsers(dest="family", required=True, metavar="FAMILY")
        for family, module in TRAINERS.items():
            trainer = import_module(module)
            one = families.add_parser(family)
            self._common(one, trainer.SAMPLES)
            trainer.add_options(one)

    def _common(self, parser: ArgumentParser, samples: int) -> None:
        parser.add_argument(
            "--data",
            type=Path,
            action="append",
            required=True,
            help="folder written by `manage.py demos`; may be given again for one more of the same course",
        )
        parser.add_argument("--run", type=Path, required=True, help="folder for checkpoints and the log")
        parser.add_argument("--out", type=Path, required=True, help="policy folder to write; its name is the id")
        parser.add_argument("--name", help="display name; the id by default")
        parser.add_argument("--description", default="")
        parser.add_argument("--samples", type=int, default=samples, help="frames to see in all")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--fraction", type=float, default=1.0, help="share of the demonstrations")
        parser.add_argument("--batch", type=int, default=64)
        parser.add_argument(
            "--repeat",
            type=_repeat,
            action="append",
            default=[],
            metavar="TASK=N",
            help="show its frames N times a pass",
        )
        parser.add_argument("--execute", type=int, help="actions of a chunk to play before the next look")
        parser.add_argument("--ensemble", type=float, help="weight per step of age for temporal ensembling")
        parser.add_argument("--device", default="cpu", help="cpu (default), cuda, cuda:1")
        parser.add_argument("--threads", type=int, default=1)
        parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in --run")
        parser.add_argument("--export-only", action="store_true", help="write the folder from the checkpoint and stop")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            card = self._train(options)
        except PolicyError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(card))
        else:
            self.stdout.write(f"wrote {options['out']}")

    def _train(self, options: dict[str, Any]) -> dict[str, Any]:
        from policies import devices
        from policies.training.dataset import Demonstrations
        from policies.training.export import Naming
        from policies.training.loop import Pace

        devices.find(options["device"])
        family = import_module(TRAINERS[options["family"]])
        options["repeat"] = tuple(options["repeat"])
        demos = Demonstrations(*options["data"], fraction=options["fraction"], seed=options["seed"])
        run = family.begin(options, demos, Pace(device=options["device"], threads=options["threads"]))
        self._log(f"{demos.episodes} demonstrations, {len(demos)} frames, {run.plan.steps} steps of {run.plan.batch}")
        if options["export_only"]:
            run.load()
        elif options["resume"]:
            run.resume()
            self._log(f"resumed at step {run.done}")
        if not options["export_only"]:
            run.run(lambda row: self._log(" ".join(f"{name} {value}" for name, value in row.items())))
        out: Path = options["out"]
        naming = Naming(
            id=out.name,
            name=options["name"] or out.name,
            description=options["description"],
            chunking=Chunking(options["execute"] or family.EXECUTE, options["ensemble"]),
        )
        card: dict[str, Any] = run.export(naming, out).to_json()
        return card

    def _log(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)
