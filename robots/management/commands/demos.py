"""Make demonstrations with the scripted expert."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Make demonstrations with the scripted expert: pictures, states, clean action labels."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--course", default="table", help="of what to show: table, widowx, warehouse, kitchen, libero"
        )
        parser.add_argument("--episodes", type=int, default=4000, help="how many seeds to try")
        parser.add_argument("--seed", type=int, default=1_000_000, help="first seed; below 1000000 is for evaluation")
        parser.add_argument("--workers", type=int, default=2)
        parser.add_argument("--out", type=Path, required=True)
        parser.add_argument("--driver", type=Path, help="policy folder that drives parts of them (DAgger)")
        parser.add_argument("--driven", type=float, default=0.7, help="share of the demonstrations with a driver")
        parser.add_argument("--resume", action="store_true", help="keep complete shards, make the missing ones")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        from policies.base import PolicyError
        from robots.drivers import PolicyDriver
        from simulation.courses import UnknownCourse, course_named
        from simulation.demos import DemonstrationError, write_dataset

        if options["episodes"] < 1 or options["workers"] < 1 or options["seed"] < 0:
            raise CommandError("--episodes and --workers must be at least 1, --seed at least 0")
        if not 0 < options["driven"] <= 1:
            raise CommandError(f"--driven must be over 0 and at most 1, got {options['driven']}")
        began = time.monotonic()

        def report(done: int, total: int) -> None:
            self.stderr.write(f"{done}/{total} shards, {time.monotonic() - began:.0f} s")

        try:
            course = course_named(options["course"])
            counts = options["episodes"], options["seed"], options["workers"]
            told = options["driver"], options["driven"], course.camera
            driver = PolicyDriver.of(*told) if options["driver"] else None
            index = write_dataset(options["out"], *counts, options["resume"], report, course, driver)
        except (DemonstrationError, UnknownCourse, PolicyError) as error:
            raise CommandError(str(error)) from error
        seconds = time.monotonic() - began
        if options["json"]:
            summary = {key: index[key] for key in ("seed", "episodes", "kept", "frames")}
            self.stdout.write(json.dumps({**summary, "seconds": round(seconds, 1)}))
        else:
            self.stdout.write(
                f"{index['kept']} of {index['episodes']} demonstrations, {index['frames']} frames, {seconds:.0f} s"
            )
