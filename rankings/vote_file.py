"""Votes from a CSV file. Whatever is wrong names its line and what would have been right."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from rankings.counts import OUTCOMES, Ballot

COLUMNS = ("battle_id", "voter_id", "robot", "left", "right", "vote")
REQUIRED = ("battle_id", "robot", "left", "right")
NOT_A_NAME = {"", "nan", "null", "none", "na", "n/a"}
"""How missing values look after a trip through a spreadsheet or a data frame; compared in lower case."""


class VoteFileError(ValueError):
    """A file that cannot be rated."""


class FileVote(NamedTuple):
    robot: str
    ballot: Ballot


def read_votes(path: Path) -> list[FileVote]:
    """Every vote of the file, in its order. An empty voter_id is an unknown voter. Raises VoteFileError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(_votes(path, csv.reader(file, strict=True)))
    except OSError as error:
        raise VoteFileError(f"{path}: {error.strerror}; expected a CSV file of votes") from None
    except UnicodeDecodeError as error:
        raise VoteFileError(f"{path}: byte {error.start} is not UTF-8; expected a CSV file in UTF-8") from None


def by_robot(votes: list[FileVote]) -> Mapping[str, list[Ballot]]:
    found: dict[str, list[Ballot]] = defaultdict(list)
    for vote in votes:
        found[vote.robot].append(vote.ballot)
    return dict(sorted(found.items()))


def _votes(path: Path, reader: Iterator[list[str]]) -> Iterator[FileVote]:
    lines: dict[str, int] = {}
    header: list[str] = []
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise VoteFileError(f"{path} line {_line(reader)}: {error}; expected comma-separated values") from None
        where = f"{path} line {_line(reader)}"
        if row is None:
            break
        if not header:
            header = _checked_header(where, row)
            continue
        if not row:
            continue  # an empty line, such as the last one
        if len(row) != len(header):
            raise VoteFileError(f"{where}: {len(row)} values; expected {len(header)}, as in the first line")
        value = dict(zip(header, (text.strip() for text in row), strict=True))
        _check(where, value)
        if value["battle_id"] in lines:
            first = lines[value["battle_id"]]
            raise VoteFileError(
                f"{where}: battle {value['battle_id']!r} was voted on in line {first}; expected one vote per battle"
            )
        lines[value["battle_id"]] = _line(reader)
        voter = value["voter_id"] or None
        yield FileVote(value["robot"], Ballot(value["left"], value["right"], value["vote"], voter))
    if not header:
        raise VoteFileError(f"{path} line 1: nothing; expected the columns {', '.join(COLUMNS)}")


def _line(reader: Iterator[list[str]]) -> int:
    """Where the reader is; at least 1."""
    return max(1, int(getattr(reader, "line_num", 1)))


def _checked_header(where: str, row: list[str]) -> list[str]:
    header = [name.strip() for name in row]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise VoteFileError(f"{where}: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise VoteFileError(f"{where}: column {', '.join(twice)} appears twice; expected each once")
    return header


def _check(where: str, value: Mapping[str, str]) -> None:
    for name in REQUIRED:
        if value[name].lower() in NOT_A_NAME:
            raise VoteFileError(f"{where}: {name} is {value[name]!r}; expected a name")
    if value["vote"] not in OUTCOMES:
        raise VoteFileError(f"{where}: unknown vote {value['vote']!r}; expected one of {', '.join(OUTCOMES)}")
    if value["left"] == value["right"]:
        raise VoteFileError(f"{where}: {value['left']!r} against itself; expected two different policies")
