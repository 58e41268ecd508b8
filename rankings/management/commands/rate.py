"""`manage.py rate VOTES.csv`: ratings from a file of votes, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rankings.bradley_terry import PRIOR
from rankings.posterior import FitError
from rankings.ratings import Options, Rating, Ratings, ratings
from rankings.vote_file import COLUMNS, VoteFileError, by_robot, read_votes


class Command(BaseCommand):
    help = "Rate policies from a CSV file of votes."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("votes", type=Path, metavar="VOTES.csv", help=f"columns: {', '.join(COLUMNS)}")
        parser.add_argument("--by", choices=["robot"], help="a board per robot too, under `boards`")
        parser.add_argument(
            "--prior", type=float, default=PRIOR, metavar="GAMES", help="virtual games per policy; 0: none (default 1)"
        )
        parser.add_argument(
            "--cap", type=int, default=0, metavar="N", help="what a voter's votes weigh at most together; 0: no limit"
        )
        parser.add_argument(
            "--cluster", choices=["voter", "none"], default="voter", help="what hangs together in the intervals"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            chosen = Options(prior=options["prior"], cap=options["cap"], cluster=options["cluster"] == "voter")
            votes = read_votes(options["votes"])
            found = ratings((vote.ballot for vote in votes), chosen)
            boards = {robot: ratings(own, chosen) for robot, own in by_robot(votes).items()} if options["by"] else None
        except (VoteFileError, ValueError, FitError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(found if boards is None else {**found, "boards": boards}))
        else:
            self._show("all votes", found)
            for robot, board in (boards or {}).items():
                self._show(robot, board)

    def _show(self, title: str, found: Ratings) -> None:
        self.stdout.write(f"{title}: {len(found['models'])} policies")
        models = found["models"]
        for component in found["components"]:
            for name in sorted(component, key=lambda name: (-models[name]["rating"], name)):
                self.stdout.write(f"  {name:<30} {_line(models[name])}")
        if len(found["components"]) > 1:
            self.stdout.write(f"  {len(found['components'])} groups never met: there is no order between them")
        if side := found["side_advantage"]:
            self.stdout.write(f"  left side: {side['elo']:+.0f} ({side['low']:+.0f} .. {side['high']:+.0f})")


def _line(row: Rating) -> str:
    low, high = ("?" if end is None else f"{end:.0f}" for end in (row["low"], row["high"]))
    rank = [] if row["rank_low"] is None else [f"rank {row['rank_low']}-{row['rank_high']}"]
    words = [f"{row['votes']} votes", *rank, *["provisional"] * row["provisional"], *row["flags"]]
    return f"{row['rating']:7.0f} ({low} .. {high})  {'  '.join(words)}"
