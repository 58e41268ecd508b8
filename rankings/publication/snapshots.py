"""Snapshots: every board from the stored counts, with the input, the code and the rules that it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from arena.kinds import Kind
from arena.models import Contestant
from rankings.files.counts_file import CountsFile
from rankings.fit.bradley_terry import Fit
from rankings.fit.ratings import Ratings, Summary, board_ratings, fitted, summary
from rankings.fit.shares import MeanOver, mean_over
from rankings.models import Snapshot
from rankings.publication import rules
from rankings.tally.counts import Counts
from rankings.tally.table import Board, VoteTable
from rankings.tally.weights import Answers
from rankings.trust.limits import limited

CODE = ("tally/*.py", "fit/*.py", "trust/limits.py")
"""The modules that a figure depends on. Import contracts keep them from importing others."""


@dataclass(frozen=True)
class Rated:
    """A board, fitted. `table`: with its votes, and others."""

    board: Board
    table: VoteTable
    fit: Fit
    ratings: Ratings
    summary: Summary
    over: MeanOver

    @cached_property
    def counts(self) -> Counts:
        return self.table.counts(self.board)


class Stored(NamedTuple):
    """The counts of the votes of every kind, and how voters answered calibration battles: by kind, then by voter."""

    counts: VoteTable
    answers: Mapping[str, Mapping[str, Answers]]

    def of(self, kind: Kind) -> VoteTable:
        """The counts of a kind, weighted by what each voter has proven there."""
        table = self.counts.among(names_of(kind)).trusting(self.answers.get(kind.id, {}))
        return limited(table, rules.options().cap)


def names_of(kind: Kind) -> set[str]:
    """The contestants of a kind."""
    return set(Contestant.objects.filter(kind=kind.id).values_list("pk", flat=True))


def rate(table: VoteTable, boards: Iterable[Board]) -> list[Rated]:
    """Each board under the published rules. Boards of the same votes, such as that of an only setting, share a fit."""
    by_votes: dict[bytes, Rated] = {}
    found = []
    for board in boards:
        votes = table.votes_on(board)
        if votes not in by_votes:
            by_votes[votes] = _rated(table, board)
        found.append(replace(by_votes[votes], board=board))
    return found


def rate_all(kind: Kind, table: VoteTable) -> list[Rated]:
    """Every board of a kind with a vote: of each place, and of each place within a division."""
    found = rate(table, table.boards())
    for division, members in kind.members().items():
        own = table.among(members)
        found += rate(own, [replace(board, division=division) for board in own.boards()])
    return found


def _rated(table: VoteTable, board: Board) -> Rated:
    options, counts = rules.options(), table.counts(board)
    fit = fitted(counts, options)
    figures = board_ratings(counts, options, fit)
    over = mean_over(counts, table.occurring("setting", board), figures["components"], fit)
    return Rated(board, table, fit, figures, summary(counts), over)


def content(rated: Iterable[Rated]) -> dict[str, Any]:
    """What a snapshot keeps of each board, by its name."""
    return {each.board.name: {**each.ratings, **each.summary, **each.over} for each in rated}


def snapshot(kind: Kind, file: CountsFile, boards: dict[str, Any]) -> Snapshot:
    """A new snapshot of a kind, not stored, or the last one where its input, code and rules are the same. `boards`: its
    `content`."""
    about = {"input_hash": file.input_hash, "code_version": code_version(), "settings": _rules_of(kind)}
    last = Snapshot.objects.filter(kind=kind.id).defer("counts").first()
    if last and all(getattr(last, name) == value for name, value in about.items()):
        return last
    return Snapshot(kind=kind.id, boards=boards, counts=file.content, **about)


def _rules_of(kind: Kind) -> dict[str, Any]:
    """The rules, and who is in which division, where the kind has any."""
    divisions = {"divisions": _members(kind)} if kind.divided_by else {}
    return {**rules.published(), **divisions}


def _members(kind: Kind) -> dict[str, list[str]]:
    return {division: sorted(members) for division, members in kind.members().items()}


def regrouped(kind: Kind) -> set[str]:
    """Divisions with other members than in the last snapshot."""
    last = Snapshot.objects.filter(kind=kind.id).values_list("settings", flat=True).first() or {}
    before, now = last.get("divisions", {}), _members(kind)
    return {division for division in before.keys() | now.keys() if before.get(division) != now.get(division)}


@cache
def code_version() -> str:
    """SHA-256 of the source of CODE: equal versions give equal figures for equal input."""
    found, rankings = hashlib.sha256(), Path(__file__).parent.parent
    for path in (path for pattern in CODE for path in sorted(rankings.glob(pattern))):
        found.update(path.read_bytes())
    return found.hexdigest()
