"""Ratings from a file of votes, for `manage.py rate`. No Django, which takes as long to start as all else takes."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rankings.files.vote_file import COLUMNS, OPTIONAL, read_votes
from rankings.fit.estimate import TIES
from rankings.fit.posterior import FitError
from rankings.fit.ratings import Options, Rating, Ratings, board_ratings
from rankings.tally.table import KEYS, Board, VoteTable

KINDS = ("robot", "scene", "task")
HELP = "Rate policies from a CSV or Parquet file of votes."
REFUSALS = (ValueError, FitError)
"""What `printed` raises where the file or an option is refused."""


def add_arguments(parser: ArgumentParser, usual: Options) -> None:
    """`usual`: the rules of the boards, which are the defaults."""
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
        help="the most that a voter's votes of one day weigh together; 0: no limit (default %(default)d)",
    )
    parser.add_argument(
        "--cluster", choices=["voter", "none"], default="voter", help="votes that intervals treat as dependent"
    )
    parser.add_argument(
        "--ties", choices=TIES, default=usual.ties, help="half a win each, or an outcome of its own (Davidson)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def printed(arguments: Namespace, usual: Options) -> Iterator[str]:
    """The lines to print. Raises REFUSALS."""
    chosen = replace(
        usual, prior=arguments.prior, cap=arguments.cap, ties=arguments.ties, cluster=arguments.cluster == "voter"
    )
    table = read_votes(arguments.votes, voters=chosen.by_voter)
    found = board_ratings(table.counts(), chosen)
    boards = _boards(table, arguments.by, chosen) if arguments.by else {}
    if arguments.json:
        yield json.dumps({**found, "boards": boards} if arguments.by else found)
        return
    yield from _shown("all votes", found)
    for name, board in boards.items():
        yield from _shown(name, board)


def _boards(table: VoteTable, kind: str, chosen: Options) -> dict[str, Ratings]:
    """By name. Votes without a setting, scene or task are on none of them."""
    key = KEYS[KINDS.index(kind)]
    names = (name for name in table.values[key] if name)
    return {name: board_ratings(table.counts(Board(**{key: name})), chosen) for name in names}


def _shown(title: str, found: Ratings) -> Iterator[str]:
    models, components = found["models"], found["components"]
    yield f"{title}: {len(models)} policies"
    for number, component in enumerate(components, 1):
        if len(components) > 1:
            yield f"  group {number}: {len(component)} policies"
        for name in sorted(component, key=lambda name: (-models[name]["rating"], name)):
            yield f"  {name:<30} {_line(models[name])}"
    if len(components) > 1:
        yield f"  {len(components)} groups never met: there is no order between them, and ranks hold within each"
    if side := found["side_advantage"]:
        yield f"  left side: {side['elo']:+.0f} ({side['low']:+.0f} .. {side['high']:+.0f})"


def _line(row: Rating) -> str:
    low, high = ("?" if end is None else f"{end:.0f}" for end in (row["low"], row["high"]))
    rank = [] if row["rank_low"] is None else [f"rank {row['rank_low']}-{row['rank_high']}"]
    words = [f"{row['votes']} votes", *rank, *["provisional"] * row["provisional"], *row["flags"]]
    return f"{row['rating']:7.0f} ({low} .. {high})  {'  '.join(words)}"
