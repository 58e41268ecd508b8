"""`manage.py rate VOTES.csv`: ratings from a file of votes, without a database, as the boards are rated."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rankings.files import rating_file
from rankings.publication import rules


class Command(BaseCommand):
    """For `call_command`. On the command line, manage.py does the same without starting Django."""

    help = rating_file.HELP
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        rating_file.add_arguments(parser, rules.options())

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for line in rating_file.printed(Namespace(**options), rules.options()):
                self.stdout.write(line)
        except rating_file.REFUSALS as error:
            raise CommandError(str(error)) from None
