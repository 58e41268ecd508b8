"""Write what browsers load to show each scene."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from simulation import catalogue


class Command(BaseCommand):
    help = "Write the scene bundles (flattened XML, meshes, manifest) that browsers load."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, default=Path(settings.SCENE_BUNDLES))
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        from simulation.assets import AssetError
        from simulation.bundle import write_scene_bundle

        built, lacking = [], []
        for robot_id, scene_id in catalogue.worlds():
            folder = options["out"] / robot_id / scene_id
            try:
                manifest = write_scene_bundle(robot_id, scene_id, folder)
            except AssetError as error:
                lacking.append(f"{robot_id}/{scene_id} is left out: {error}")
                continue
            size = sum(path.stat().st_size for path in folder.iterdir())
            built.append(
                {"robot_id": robot_id, "scene_id": scene_id, "scene_hash": manifest["scene_hash"], "bytes": size}
            )
        if not built:
            raise CommandError("; ".join(lacking))
        for line in lacking:
            self.stderr.write(line)
        if options["json"]:
            self.stdout.write(json.dumps({"scenes": built}))
            return
        for row in built:
            self.stdout.write(f"{row['robot_id']}/{row['scene_id']}: {row['bytes']} bytes, {row['scene_hash'][:12]}")
