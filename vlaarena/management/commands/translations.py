"""Keeps the translations: `update` after a string was added, `missing` for what is to do, `compile` before a start."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from vlaarena.translations import files

DOMAINS = tuple(files.SOURCES)


class Command(BaseCommand):
    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("verb", choices=["update", "missing", "compile"])

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        {"update": self._update, "missing": self._missing, "compile": self._compile}[verb]()

    def _update(self) -> None:
        for language in files.languages(settings.BASE_DIR):
            for domain in DOMAINS:
                catalogue = files.update(settings.BASE_DIR, language, domain)
                to_do = len(catalogue.untranslated_entries())
                self.stdout.write(f"{language} {domain}: {len(catalogue)} strings, {to_do} to translate")

    def _missing(self) -> None:
        troubles = [
            trouble
            for language in files.languages(settings.BASE_DIR)
            for domain in DOMAINS
            for trouble in files.missing(settings.BASE_DIR, language, domain)
        ]
        for trouble in troubles:
            self.stdout.write(trouble)
        if troubles:
            raise CommandError(f"{len(troubles)} strings lack a translation")

    def _compile(self) -> None:
        for path in files.compile_all(settings.BASE_DIR):
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
