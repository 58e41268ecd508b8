"""Fitting the boards of a bundle to its counts again, and comparing every published figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from exports.bundle.cells import RANKING
from exports.bundle.parts import Refused
from rankings.fit.bradley_terry import PRIOR
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.ratings import LISTED, Options, board_ratings, summary
from rankings.publication.snapshots import code_version
from rankings.tally.table import VoteTable

ROUNDED = 0.011
"""The last printed digit of a rating, which other hardware may round the other way."""
SHARE_ROUNDED = 0.00011
FIGURES, SHARES = ("rating", "low", "high"), ("weight", "win_rate", "tie_rate", "both_bad_rate")
CONSTANTS = {"prior_games": PRIOR, "offset_sd": OFFSET_SD, "listed_from_votes": LISTED}


@dataclass
class Compared:
    boards: int = 0
    names: set[str] = field(default_factory=set)
    largest_difference: float = 0.0
    same_code: bool = True

    @property
    def models(self) -> int:
        return len(self.names)


def compare_boards(ranking: Any, counts: VoteTable) -> Compared:
    """Fit every board by `rankings.fit` under the rules that the publication states. Raises Refused for a figure that
    is not what the votes give."""
    try:
        options, boards = _options(ranking["settings"]), dict(ranking["boards"])
        found = Compared(same_code=ranking["code_version"] == code_version())
        rebuilt = {board.name: board for board in counts.boards()}
        if boards.keys() != rebuilt.keys():
            odd = ", ".join(sorted(boards.keys() ^ rebuilt.keys()))
            raise Refused("ranking_differs", RANKING, f"published and rebuilt boards are not the same: {odd}")
        for name, board in rebuilt.items():
            of_board = counts.counts(board)
            _compare(name, boards[name], {**board_ratings(of_board, options), **summary(of_board)}, found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Refused("malformed_part", RANKING, f"it is no publication: {error!r}") from None
    return found


def _options(rules: Mapping[str, Any]) -> Options:
    for name, mine in CONSTANTS.items():
        if rules[name] != mine:
            raise Refused("other_rules", RANKING, f"it was made with {name} {rules[name]}; this release has {mine}")
    return Options.of({"cap": rules["cap_per_voter_and_day"], **rules["provisional_until"]})


def _compare(board: str, published: Mapping[str, Any], rebuilt: Mapping[str, Any], found: Compared) -> None:
    for name in ("components", "votes", "voters"):
        _same(f"{board}: {name}", published[name], rebuilt[name])
    _same(f"{board}: models", sorted(published["models"]), sorted(rebuilt["models"]))
    for model, row in rebuilt["models"].items():
        theirs = published["models"][model]
        for name, value in row.items():
            where = f"{board}: {name} of {model}"
            if name in FIGURES:
                found.largest_difference = max(found.largest_difference, _near(where, theirs[name], value, ROUNDED))
            elif name in SHARES:
                _near(where, theirs[name], value, SHARE_ROUNDED)
            else:
                _same(where, theirs[name], value)
    found.boards += 1
    found.names |= set(rebuilt["models"])


def _near(where: str, published: float | None, rebuilt: float | None, most: float) -> float:
    if published is None or rebuilt is None:
        _same(where, published, rebuilt)
        return 0.0
    difference = abs(published - rebuilt)
    if not math.isfinite(difference) or difference > most:
        raise Refused("ranking_differs", RANKING, f"{where} is published as {published}, and the votes give {rebuilt}")
    return difference


def _same(where: str, published: Any, rebuilt: Any) -> None:
    if published != rebuilt:
        raise Refused("ranking_differs", RANKING, f"{where} is published as {published}, and the votes give {rebuilt}")
