"""`manage.py prepare`: migrate and seed the database for this release. Safe to repeat."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from arena.gallery import entering
from texts import embedded
from texts.models import TEXT
from voice import offered, seeding
from voice.models import VOICE
from wormarena.ingestion import demo


class Command(BaseCommand):
    help = (
        "Run the migrations, create the roles, register the shipped policies, set up the periodic tasks, enter battles "
        "into the gallery, and games of reference players into an empty WormArena."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=options["verbosity"])
        call_command("seed_roles")
        call_command("seed_policies")
        if TEXT in settings.KINDS:
            about = settings.TEXT
            embedded.seed_models(bool(about["embedded_url"]), bool(about["embedded_qwen_url"]))
        if VOICE in settings.KINDS:
            if why := offered.trouble():
                self.stderr.write(f"WARNING {why}")
            else:
                seeding.seed()
        call_command("seed_schedule")
        entering.enter_missing()
        demo.enter()
