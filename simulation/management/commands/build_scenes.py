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
    help = (
        "Write the scene bundles (flattened XML, meshes, manifest) that browsers load. "
        "Those that nothing has changed for since are left as they are."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--out", type=Path, default=Path(settings.SCENE_BUNDLES))
        parser.add_argument("--anew", action="store_true", help="write all, also those that nothing has changed for")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        from simulation.assets import AssetError

        built, lacking = [], []
        for robot_id, scene_id in catalogue.worlds():
            folder = options["out"] / robot_id / scene_id
            try:
                manifest = _written(robot_id, scene_id, folder, options["anew"])
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


def _written(robot_id: str, scene_id: str, folder: Path, anew: bool) -> dict[str, Any]:
    """The manifest of a bundle that is of the present code and files. Raises AssetError."""
    from simulation.bundle import MANIFEST, write_scene_bundle
    from simulation.bundle_inputs import inputs_of

    told, inputs = folder.with_suffix(".inputs"), inputs_of(robot_id, scene_id)
    if not anew and told.is_file() and told.read_text() == inputs and (folder / MANIFEST).is_file():
        kept: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
        return kept
    told.unlink(missing_ok=True)
    manifest = write_scene_bundle(robot_id, scene_id, folder)
    told.write_text(inputs)
    return manifest
