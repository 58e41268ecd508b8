"""`manage.py ranking_study`: simulate voters, and write the results to docs/ranking-study.md with plots."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from rankings.fit.ratings import CAP
from rankings.study.chapters import CHAPTERS

INTRODUCTION = """# Do the rankings keep their promises?

Made by `manage.py ranking_study --repeats {repeats}`: every figure and plot follows from seeds, and the same command
gives the same ones. `--only NAME` prints one chapter ({names}).

Unless a chapter says otherwise, true ratings are normal with a spread of 150 points, ties take 35 % of the votes
between equals, how much a voter votes is lognormal, and a voter with a taste has an own opinion of each contestant,
normal with 100 points. The cap of {cap} votes per voter and day is that of the boards. Intervals are 95 % ones. Tests
hold each promise with fewer repeats.
"""


class Command(BaseCommand):
    help = "Simulate voters and write the study of the ranking, with plots; fixed seeds."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--repeats", type=int, default=200, help="simulated arenas per row (default %(default)d)")
        parser.add_argument("--only", choices=sorted(CHAPTERS), help="print this chapter, and write nothing")
        parser.add_argument("--folder", type=Path, default=Path(settings.BASE_DIR, "docs"))

    def handle(self, *args: Any, **options: Any) -> None:
        repeats, folder = options["repeats"], options["folder"]
        if options["only"]:
            self.stdout.write(CHAPTERS[options["only"]](repeats).text)
            return
        (folder / "images").mkdir(parents=True, exist_ok=True)
        parts = [INTRODUCTION.format(repeats=repeats, cap=CAP, names=", ".join(CHAPTERS))]
        for chapter in CHAPTERS.values():
            text, plots = chapter(repeats)
            parts.append(text)
            for name, drawing in plots.items():
                (folder / "images" / name).write_text(drawing, encoding="utf-8")
            self.stdout.write(text)
        (folder / "ranking-study.md").write_text("\n".join(parts), encoding="utf-8")
