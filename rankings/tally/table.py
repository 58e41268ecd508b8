"""All counts as columns of numbers, and the boards as sums of their rows. No Django."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankings.tally.arrays import Booleans, Floats, Integers
from rankings.tally.counts import OUTCOMES, Columns, Counts
from rankings.tally.visits import NO_VISITS, Visits
from rankings.tally.weights import NEWCOMER, Answers, trust

GLOBAL = "global"
KEYS = ("setting", "scene", "task", "left", "right", "voter", "day", "network")
PLACE = KEYS[:3]
"""What a board may be of."""
FILE_KEYS = ("robot", *KEYS[1:])
"""What files and closed days call them."""
BATCH = 20_000
LEAST_TRUST = 1e-5
"""No vote weighs less."""
Values = Mapping[str, tuple[str, ...]]
Codes = Mapping[str, Integers]


@dataclass(frozen=True)
class Board:
    """The votes of a setting, a scene and a task, and between contestants of a division alone (`Kind.divisions`); an
    empty text stands for all of them. A division's votes are those of a table `among` its members."""

    setting: str = ""
    scene: str = ""
    task: str = ""
    division: str = ""

    @property
    def name(self) -> str:
        """ "global", "robot=widowx", "robot=widowx,scene=table", ..."""
        places = (("robot", self.setting), ("scene", self.scene), ("task", self.task))
        parts = (*places, ("division", self.division))
        return ",".join(f"{kind}={value}" for kind, value in parts if value) or GLOBAL

    @property
    def has_table(self) -> bool:
        """Whether it is the global board or that of a setting."""
        return not (self.scene or self.task or self.division)

    def holds(self, setting: str, scene: str, task: str) -> bool:
        """Whether votes of that place are on it, if they are within its division."""
        wanted = ((self.setting, setting), (self.scene, scene), (self.task, task))
        return all(not mine or mine == theirs for mine, theirs in wanted)


class Voter(NamedTuple):
    """A voter's number of votes, and the day of the first one."""

    votes: int
    first_day: str


class Texts:
    """A column of texts built from batches; each different text is kept once."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._codes: list[Integers] = [np.zeros(0, np.int64)]

    def extend(self, texts: Iterable[str]) -> None:
        place = self._place
        self._codes.append(np.array([place.setdefault(text, len(place)) for text in texts], np.int64))

    def coded(self) -> tuple[tuple[str, ...], Integers]:
        """The different texts, sorted, and (rows,) each row's place in them."""
        values = sorted(self._place)
        renumber = np.zeros(len(values), np.int64)
        renumber[[self._place[value] for value in values]] = np.arange(len(values))
        return tuple(values), renumber[np.concatenate(self._codes)]


def in_columns(
    rows: Iterable[Sequence[str | int]], names: Sequence[str], numbers: int
) -> tuple[dict[str, tuple[str, ...]], dict[str, Integers], Integers]:
    """The different texts of each column, sorted; (rows,) each row's places in these; (rows, numbers).

    `rows`: of texts, as many as `names`, and then of numbers, as many as `numbers`; never all in memory at once.
    """
    texts = {name: Texts() for name in names}
    found = [np.zeros((0, numbers), np.int64)]
    waiting = iter(rows)
    while batch := list(itertools.islice(waiting, BATCH)):
        columns = list(zip(*batch, strict=True))
        for name, column in zip(names, columns, strict=False):
            texts[name].extend(map(str, column))
        found.append(np.array(columns[len(names) :], dtype=np.int64).T)
    coded = {name: column.coded() for name, column in texts.items()}
    values = {name: values for name, (values, _) in coded.items()}
    return values, {name: codes for name, (_, codes) in coded.items()}, np.concatenate(found)


def rows_among(names: Collection[str], values: Values, codes: Codes) -> Booleans:
    """(rows,) whether both sides are among these contestants."""
    known = {side: np.array([name in names for name in values[side]], dtype=bool) for side in ("left", "right")}
    found: Booleans = known["left"][codes["left"]] & known["right"][codes["right"]]
    return found


def restricted(rows: Booleans, values: Values, codes: Codes) -> tuple[dict[str, tuple[str, ...]], dict[str, Integers]]:
    """The values and codes of some rows, with only those texts that occur in them."""
    kept_values, kept_codes = {}, {}
    for key, column in codes.items():
        kept = column[rows]
        present = _occurring(kept, len(values[key]))
        kept_values[key] = tuple(text for text, here in zip(values[key], present.tolist(), strict=True) if here)
        kept_codes[key] = _renumbered(kept, present)
    return kept_values, kept_codes


@dataclass(frozen=True)
class VoteTable:
    """One row per setting, scene, task, side order of a pair, voter, day and network.

    Texts stand once, in sorted `values`; `codes[key]` (rows,) is each row's place in `values[key]`. An unknown voter is
    "", and no network is "".
    """

    values: dict[str, tuple[str, ...]]
    codes: dict[str, Integers]
    outcomes: Integers
    """(rows, 4) how many votes of each outcome, or (rows,) the outcome of a row's single vote, a place in OUTCOMES."""
    trust: Floats | None = None
    """(rows,) how far each row's voter is trusted, above 0 and at most 1; None: all alike."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[str | int]]) -> VoteTable:
        """From rows of the eight KEYS, then the four counts; never all in memory at once."""
        return cls(*in_columns(rows, KEYS, len(OUTCOMES)))

    def among(self, names: Collection[str]) -> VoteTable:
        """Only the votes on two of these contestants, as if there were no others."""
        rows = rows_among(names, self.values, self.codes)
        if rows.all():
            return self
        trust = None if self.trust is None else self.trust[rows]
        return VoteTable(*restricted(rows, self.values, self.codes), self.outcomes[rows], trust)

    def new_voters(self, days: int) -> list[str]:
        """Voters whose first vote lies within the last days (UTC) with a vote."""
        if not self.values["day"] or "" in self.values["day"]:
            return []
        since = (date.fromisoformat(self.values["day"][-1]) - timedelta(days=days)).isoformat()
        return [name for name, own in self.voters().items() if own.first_day > since]

    def numbers_of(self, voters: Collection[str]) -> Integers:
        """(n,) numbers of voters as the boards' counts have them, sorted."""
        wanted = set(voters)
        known = self.values["voter"][self._unknown :]
        return np.array([number for number, name in enumerate(known) if name in wanted], dtype=np.int64)

    def voters_of(self, numbers: Iterable[int]) -> list[str]:
        """The voters with these numbers."""
        return [self.values["voter"][number + self._unknown] for number in numbers]

    def sources(self, voters: Collection[str]) -> set[tuple[str, str]]:
        """Each of these voters with each network it came from; "" is no network."""
        rows = self._rows_of(voters)
        pairs = zip(self.codes["voter"][rows].tolist(), self.codes["network"][rows].tolist(), strict=True)
        return {(self.values["voter"][voter], self.values["network"][network]) for voter, network in set(pairs)}

    def trusting(self, answers: Mapping[str, Answers]) -> VoteTable:
        """The same votes, where those from a network weigh by the answers of their voter."""
        if not self.from_a_network.any():
            return self
        size, rows = len(self.values["day"]), self._has_votes
        visits = np.unique(self.codes["voter"][rows] * size + self.codes["day"][rows])
        number = np.bincount(visits // size, minlength=len(self.values["voter"])).tolist()
        voters = zip(self.values["voter"], number, strict=True)
        by_voter = np.array([trust(answers.get(voter, Answers()), days) for voter, days in voters])
        return replace(self, trust=np.where(self.from_a_network, by_voter[self.codes["voter"]], 1.0))

    def weighed_down(self, factors: Floats) -> VoteTable:
        """The same votes, where the weights of those from a network are multiplied by `factors` (visits,)."""
        place = self.visits.places(self._voter_numbers, self.codes["day"])
        less = np.maximum(LEAST_TRUST, np.round(self._trust * np.append(factors, 1.0)[place], 5))
        return replace(self, trust=np.where(self.from_a_network, less, self._trust))

    def doubting(self, voters: Collection[str]) -> VoteTable:
        """The same votes as if these voters had proven nothing yet."""
        doubted = self._rows_of(voters) & self.from_a_network
        return replace(self, trust=np.where(doubted, np.minimum(NEWCOMER, self._trust), self._trust))

    @cached_property
    def visits(self) -> Visits:
        """By numbers of voters as the boards' counts have them."""
        rows = self._has_votes & (self.from_a_network | (self._trust < 1.0)) & (self._voter_numbers >= 0)
        if not rows.any():
            return NO_VISITS
        voter, day = self._voter_numbers[rows], self.codes["day"][rows]
        days = len(self.values["day"])
        votes = np.ones(len(voter), np.int64) if self.outcomes.ndim == 1 else self.outcomes[rows].sum(axis=1)
        key = voter * days + day
        known = day > self.first_days(voter)
        return Visits.of(days, key, self._networks[rows], votes, known, self._trust[rows])

    def visit_columns(self) -> dict[str, tuple[list[str], Integers]]:
        """The columns `network` and `trust` of an anonymous file, each as texts and (rows,) places in them.

        Networks that several voters share are numbered; others are left out, since they change no weight.
        """
        voter, day = self._voter_numbers, self.codes["day"]
        network = self.visits.networks(voter, day) + 1
        steps, place = np.unique(self.visits.trusts(voter, day), return_inverse=True)
        names = ["", *(f"n{number:06}" for number in range(1, int(network.max(initial=0)) + 1))]
        return {"network": (names, network), "trust": ([f"{step:g}" for step in steps], place.astype(np.int64))}

    def boards(self) -> list[Board]:
        """Every board with a vote: global, of each setting, scene and task, and of any of these together; broad ones
        first."""
        played = set(zip(*(self.codes[key][self._has_votes].tolist() for key in PLACE), strict=True))
        places = [[self.values[key][code] for key, code in zip(PLACE, codes, strict=True)] for codes in played]
        found = {choice for place in places for choice in itertools.product(*(("", text) for text in place))}
        order = sorted(found, key=lambda parts: (sum(map(bool, parts)), [not part for part in parts], parts))
        return list(itertools.starmap(Board, order))

    def votes_on(self, board: Board) -> bytes:
        """A key that two boards share where they hold the same votes."""
        return np.packbits(self._rows(board)).tobytes()

    def holds_all(self, board: Board) -> bool:
        """Whether every row with a vote is on it."""
        return bool((self._rows(board) == self._has_votes).all())

    def counts(
        self, board: Board = Board(), *, without_voters: Collection[str] = (), apart_by: str = "setting"
    ) -> Counts:
        """The counts of one board, with the policies that have a vote on it. `without_voters`: for shadow boards.
        `apart_by`: whose numbers stand for settings, "task" for a board of each; in the order of `occurring`."""
        rows = self._rows(board)
        if without_voters:
            rows &= ~self._rows_of(without_voters)
        chosen = slice(None) if rows.all() else rows
        left, right = (self._policies[side][chosen] for side in ("left", "right"))
        present = _occurring(left, len(self._names)) | _occurring(right, len(self._names))
        setting = self.codes[apart_by][chosen]
        return Counts.of(
            [name for name, here in zip(self._names, present.tolist(), strict=True) if here],
            Columns(
                _renumbered(left, present),
                _renumbered(right, present),
                self._voter_numbers[chosen],
                _renumbered(setting, _occurring(setting, len(self.values[apart_by]))),
                self.codes["day"][chosen],
                self.outcomes[chosen],
            ),
            self.visits,
        )

    def occurring(self, key: str, board: Board = Board()) -> list[str]:
        """The settings, scenes, tasks, ... of a board's votes, sorted: in the order of their numbers in its counts."""
        return [self.values[key][code] for code in np.unique(self.codes[key][self._rows(board)]).tolist()]

    def voters(self) -> dict[str, Voter]:
        """Every known voter with a vote."""
        rows = self._has_votes
        voter = self.codes["voter"][rows]
        cast = self.outcomes[rows].sum(axis=1) if self.outcomes.ndim == 2 else None
        votes = np.bincount(voter, cast, len(self.values["voter"])).astype(int)
        columns = zip(self.values["voter"], votes.tolist(), self._first_days.tolist(), strict=True)
        return {name: Voter(number, self.values["day"][at]) for name, number, at in columns if name and number}

    @cached_property
    def _unknown(self) -> int:
        """How many values of voters are "", 0 or 1. It sorts first, so that less this a code is the voter's number."""
        return int(self.values["voter"][:1] == ("",))

    @cached_property
    def _voter_numbers(self) -> Integers:
        """(rows,) as the boards' counts have them, with UNKNOWN_VOTER."""
        return self.codes["voter"] - self._unknown

    def _rows_of(self, voters: Collection[str]) -> Booleans:
        """(rows,)"""
        return np.isin(self._voter_numbers, self.numbers_of(voters))

    @cached_property
    def _has_votes(self) -> Booleans:
        """(rows,)"""
        if self.outcomes.ndim == 1:
            return np.ones(len(self.outcomes), dtype=bool)
        found: Booleans = np.any(self.outcomes, axis=1)
        return found

    @cached_property
    def from_a_network(self) -> Booleans:
        """(rows,)"""
        return self._networks >= 0

    @cached_property
    def _networks(self) -> Integers:
        """(rows,) a number per network from 0; ALONE without one."""
        return self.codes["network"] - 1 if self.values["network"][:1] == ("",) else self.codes["network"]

    @cached_property
    def _trust(self) -> Floats:
        """(rows,)"""
        return np.ones(len(self.outcomes)) if self.trust is None else self.trust

    def first_days(self, numbers: Integers) -> Integers:
        """(n,) the place in `values` of the day of the first vote of voters, by number; one past the last day for those
        without a vote."""
        return self._first_days[numbers + self._unknown]

    @cached_property
    def _first_days(self) -> Integers:
        """(voters,) the day of each voter's first vote; past the last one without a vote."""
        rows = self._has_votes
        first = np.full(len(self.values["voter"]), len(self.values["day"]))
        np.minimum.at(first, self.codes["voter"][rows], self.codes["day"][rows])
        return first

    @cached_property
    def _names(self) -> list[str]:
        return sorted({*self.values["left"], *self.values["right"]})

    @cached_property
    def _policies(self) -> dict[str, Integers]:
        place = {name: number for number, name in enumerate(self._names)}
        found = {}
        for side in ("left", "right"):
            places = np.array([place[name] for name in self.values[side]], dtype=np.int64)
            same = len(places) == len(self._names)  # both are sorted
            found[side] = self.codes[side] if same else places[self.codes[side]]
        return found

    def _rows(self, board: Board) -> Booleans:
        chosen = self._has_votes.copy()
        for key in PLACE:
            if wanted := getattr(board, key):
                known = self.values[key]
                chosen &= self.codes[key] == (known.index(wanted) if wanted in known else -1)
        return chosen


def _occurring(codes: Integers, size: int) -> Booleans:
    """(size,) which values are there."""
    return np.bincount(codes, minlength=size) > 0


def _renumbered(codes: Integers, present: Booleans) -> Integers:
    """The same codes when only some values are left, those `present` (values,)."""
    if present.all():
        return codes
    return (np.cumsum(present) - 1)[codes]
