"""`manage.py rate VOTES.csv`: ratings from a file of votes, without a database, as the boards are rated."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rankings import rules
from rankings.estimate import TIES
from rankings.fast_votes import COLUMNS
from rankings.posterior import FitError
from rankings.ratings import Options, Rating, Ratings, board_ratings
from rankings.table import Board, Table
from rankings.vote_file import OPTIONAL, VoteFileError, read_votes

KINDS = ("robot", "scene", "task")


class Command(BaseCommand):
    help = "Rate policies from a CSV or Parquet file of votes."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = rules.options()
        columns = f"columns: {', '.join(COLUMNS)}; optional: {', '.join(OPTIONAL)}"
        parser.add_argument("votes", type=Path, metavar="VOTES", help=f"a CSV or Parquet file, {columns}")
        parser.add_argument("--by", choices=KINDS, help="a board per robot, scene or task too, under `boards`")
        parser.add_argument(
            "--prior",
            type=float,
            default=usual.prior,
            metavar="GAMES",
            help="virtual games per policy; 0: none (default %(default)g)",
        )
        parser.add_argument(
            "--cap",
            type=int,
            default=usual.cap,
            metavar="N",
            help="what a voter's votes of one day weigh at most together; 0: no limit (default %(default)d)",
        )
        parser.add_argument(
            "--cluster", choices=["voter", "none"], default="voter", help="what hangs together in the intervals"
        )
        parser.add_argument(
            "--ties", choices=TIES, default=usual.ties, help="half a win each, or an outcome of its own (Davidson)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {name: options[name] for name in ("prior", "cap", "ties")}
        try:
            chosen = replace(rules.options(), cluster=options["cluster"] == "voter", **given)
            table = read_votes(options["votes"])
            found = board_ratings(table.counts(), chosen)
            boards = _boards(table, options["by"], chosen) if options["by"] else None
        except (VoteFileError, ValueError, FitError) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(json.dumps(found if boards is None else {**found, "boards": boards}))
        else:
            self._show("all votes", found)
            for name, board in (boards or {}).items():
                self._show(name, board)

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


def _boards(table: Table, kind: str, chosen: Options) -> dict[str, Ratings]:
    """By the robot's, scene's or task's name; votes without one are on none of these boards."""
    names = (name for name in table.values[kind] if name)
    return {name: board_ratings(table.counts(Board(**{kind: name})), chosen) for name in names}


def _line(row: Rating) -> str:
    low, high = ("?" if end is None else f"{end:.0f}" for end in (row["low"], row["high"]))
    rank = [] if row["rank_low"] is None else [f"rank {row['rank_low']}-{row['rank_high']}"]
    words = [f"{row['votes']} votes", *rank, *["provisional"] * row["provisional"], *row["flags"]]
    return f"{row['rating']:7.0f} ({low} .. {high})  {'  '.join(words)}"
