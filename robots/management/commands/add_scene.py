"""`manage.py add_scene FILE`: check a composed scene, and publish it as a moderator does."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from robots import published_scenes, published_tasks
from robots.models import PublishedScene, SceneTrial
from robots.publications import NotPublishable


class Command(BaseCommand):
    help = "Check a scene that a file composes of known things (docs/worlds.md), and publish it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--draft", action="store_true", help="leave the publication to a moderator")
        parser.add_argument("--seeds", type=int, default=20, help="how many first states to look at")

    def handle(self, *args: Any, **options: Any) -> None:
        from robots.scene_trial_maker import checked

        if options["seeds"] < 1:
            raise CommandError("--seeds must be at least 1")
        published_tasks.refresh(at_once=True)
        path: Path = options["file"]
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(str(error)) from error
        made = checked(text, None, options["seeds"])
        if faults := made.result["faults"]:
            raise CommandError("\n".join(fault.replace("scene", path.name, 1) for fault in faults))
        row = PublishedScene(yaml=text)
        try:
            with transaction.atomic():
                published_scenes.save_draft(row)
                found = {"result": made.result, "manifest": made.manifest, "xml": made.xml, "done_at": timezone.now()}
                SceneTrial.objects.create(scene=row, what=SceneTrial.What.CHECK, yaml=text, **found)
                if not options["draft"]:
                    published_scenes.publish(row, None)
        except NotPublishable as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{row}: {'a draft' if options['draft'] else 'published'}")
