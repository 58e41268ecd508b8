"""Maintain the translations: `update` the catalogues, list `missing` translations, or `compile` them before a start."""

from __future__ import annotations

from itertools import product
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from vlaarena.translations import files


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("verb", choices=["update", "missing", "compile"])

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        root, troubles = settings.BASE_DIR, 0
        if verb == "compile":
            for path in files.compile_all(root):
                self.stdout.write(str(path.relative_to(root)))
            return
        for language, domain in product(files.languages(root), files.SOURCES):
            if verb == "update":
                catalogue = files.update(root, language, domain)
                to_do = len(catalogue.untranslated_entries())
                self.stdout.write(f"{language} {domain}: {len(catalogue)} strings, {to_do} to translate")
                continue
            for trouble in files.missing(root, language, domain):
                self.stdout.write(trouble)
                troubles += 1
        if troubles:
            raise CommandError(f"{troubles} strings lack a translation")
