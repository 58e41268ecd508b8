"""`manage.py export_lerobot FOLDER`: episodes of voted battles as a LeRobotDataset."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from arena import kinds
from arena.store import StoreUnavailable
from policies.models import ROBOTS


class Command(BaseCommand):
    help = (
        "Write the episodes of voted battles in one world as a LeRobotDataset (v3.0): states and actions per control "
        "step, instructions, and for each episode its battle, side, model, verdict and vote."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a folder that does not exist yet, or is empty")
        parser.add_argument("--battles", nargs="+", default=[], metavar="BATTLE_ID", help="only these; default: all")
        parser.add_argument("--robot", default=settings.DEFAULT_ROBOT)
        parser.add_argument("--scene", default=settings.DEFAULT_SCENE)
        parser.add_argument("--video", action="store_true", help="draw every state again, too: much slower")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        from exports import publishable
        from exports.lerobot.battles import episodes_of
        from exports.lerobot.dataset import write_dataset

        kind, only, started = kinds.get(ROBOTS), options["battles"], time.perf_counter()
        if only and (unwanted := publishable.left_out(kind, only)):
            raise CommandError(f"these battles cannot be exported: {', '.join(unwanted)}")
        about = {"license": settings.DATA_LICENSE, "license_url": settings.DATA_LICENSE_URL}
        episodes = episodes_of(kind, options["robot"], options["scene"], only)
        try:
            totals = write_dataset(options["folder"], episodes, video=options["video"], about=about, told=self._tell)
        except StoreUnavailable as error:
            raise CommandError(f"the episode store does not answer: {error}") from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or options['folder']}: {error.strerror}") from None
        seconds = time.perf_counter() - started
        found = {"episodes": totals.episodes, "frames": totals.frames, "tasks": len(totals.tasks)}
        if options["json"]:
            self.stdout.write(json.dumps({"folder": str(options["folder"]), **found, "seconds": round(seconds, 2)}))
            return
        self.stdout.write(f"{totals.episodes} episodes, {totals.frames} frames in {seconds:.1f} s")

    def _tell(self, done: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{done} episodes", ending="\r")
