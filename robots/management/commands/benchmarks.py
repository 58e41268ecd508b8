"""`manage.py benchmarks`: the tables of the page /benchmarks as Markdown."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from robots.benchmarks import tables
from robots.benchmarks.measured import measured
from robots.benchmarks.published import COLUMNS


class Command(BaseCommand):
    help = "Print published figures beside those that `evaluate --suite ... --record` measured, as Markdown."
    requires_system_checks: tuple[str, ...] = ()

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write("\n\n".join("\n".join(tables.markdown(each, measured())) for each in COLUMNS))
