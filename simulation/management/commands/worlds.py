"""`manage.py worlds`: list the worlds, what policies they take, and what they lack."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from simulation import catalogue, optional_rows


class Command(BaseCommand):
    help = "List the worlds: robot, scene, action space, control rate, and the assets that are missing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = [_row(*world) for world in catalogue.worlds()]
        if options["json"]:
            self.stdout.write(json.dumps({"worlds": rows}))
            return
        for row in rows:
            takes = f"{row['action_space']} at {row['control_hz']} Hz"
            self.stdout.write(f"{row['robot_id']}/{row['scene_id']:<20} {takes:<32} {', '.join(row['cameras'])}")
            if not row["offered"]:
                self.stdout.write("  not offered to visitors")
            if row["missing"]:
                self.stdout.write(f"  not played here: {row['missing']}")
        if not optional_rows.is_installed():
            self.stdout.write(f"panda/libero_* is not installed; run: {optional_rows.REMEDY}")


def _row(robot_id: str, scene_id: str) -> dict[str, Any]:
    takes = catalogue.embodiment(robot_id, scene_id)
    return {
        "robot_id": robot_id,
        "scene_id": scene_id,
        "action_space": takes.action_space,
        "control_hz": takes.rate_hz,
        "proprioception": takes.proprioception,
        "longest_chunk": takes.longest_chunk,
        "cameras": [camera.name for camera in takes.cameras],
        "offered": catalogue.is_offered(scene_id),
        "missing": catalogue.missing_assets(robot_id, scene_id),
    }
