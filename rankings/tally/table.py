"""All counts as columns of numbers, and the boards as sums of their rows. No Django."""

from __future__ import annotations

import bisect
import copy
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

import numpy as np

from rankings.tally.arrays import (
    Booleans,
    Codes,
    Column,
    Floats,
    Integers,
    LevelsOrNone,
    Narrow,
    chunks,
    distinct,
    in_chunks,
    kept,
    narrowed,
    selection,
    taken,
)
from rankings.tally.counts import OUTCOMES, Columns, Counts
from rankings.tally.names import Names, places_of, texts_at
from rankings.tally.visits import ALONE, NO_VISITS, Visits
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
Values = Mapping[str, tuple[str, ...] | Names]


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
    found: Booleans = known["left"][codes.kept("left")] & known["right"][codes.kept("right")]
    return found


def restricted(rows: Booleans, values: Values, codes: Codes) -> tuple[dict[str, Names], dict[str, Narrow]]:
    """The values and codes of some rows, with only those texts that occur in them."""
    kept_values, kept_codes = {}, {}
    for key, column in codes.items():
        left = column[rows]
        present = _occurring(left, len(values[key]))
        kept_values[key] = Names.of(itertools.compress(values[key], present.tolist()))
        kept_codes[key] = _renumbered(left, present)
    return kept_values, kept_codes


@dataclass(frozen=True)
class VoteTable:
    """One row per setting, scene, task, side order of a pair, voter, day and network.

    Texts stand once, in sorted `values`; `codes[key]` (rows,) is each row's place in `values[key]`. An unknown voter is
    "", and no network is "".
    """

    values: Values
    codes: Codes
    outcomes: Column = Column()
    """(rows, 4) how many votes of each outcome, or (rows,) the outcome of a row's single vote, a place in OUTCOMES."""
    trust: LevelsOrNone = LevelsOrNone()
    """(rows,) how far each row's voter is trusted, above 0 and at most 1; None: all alike."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", Codes(self.codes))

    @classmethod
    def of(cls, rows: Iterable[Sequence[str | int]]) -> VoteTable:
        """From rows of the eight KEYS, then the four counts; never all in memory at once."""
        values, codes, outcomes = in_columns(rows, KEYS, len(OUTCOMES))
        return cls(values, Codes(codes), outcomes)

    def among(self, names: Collection[str]) -> VoteTable:
        """Only the votes on two of these contestants, as if there were no others."""
        rows = rows_among(names, self.values, self.codes)
        if rows.all():
            return self
        trust = None if self.trust is None else self.trust[rows]
        values, codes = restricted(rows, self.values, self.codes)
        return VoteTable(values, Codes(codes), kept(self, "outcomes")[rows], trust)

    def new_voters(self, days: int) -> list[str]:
        """Voters whose first vote lies within the last days (UTC) with a vote."""
        if not self.values["day"] or "" in self.values["day"]:
            return []
        since = (date.fromisoformat(self.values["day"][-1]) - timedelta(days=days)).isoformat()
        return self._voters_where(self.seen_since(since, itself=False))

    def fresh_voters(self, day: str, least_votes: int) -> list[str]:
        """Voters with a vote whose first one is of a later day, or who have fewer than `least_votes`."""
        return self._voters_where(self.seen_since(day, itself=False) | (self._votes < least_votes))

    def voters_first_seen(self, day: str) -> list[str]:
        """Voters whose first vote is of that day."""
        return self._voters_where(self.seen_since(day, itself=True) & ~self.seen_since(day, itself=False))

    def seen_since(self, day: str, *, itself: bool) -> Booleans:
        """(voters,) whose first vote is of a later day, or of that day `itself`; those without a vote included."""
        find = bisect.bisect_left if itself else bisect.bisect_right
        found: Booleans = self._first_days >= find(self.values["day"], day)
        return found

    def _voters_where(self, chosen: Booleans) -> list[str]:
        """Known voters with a vote, of `chosen` (voters,)."""
        places = np.flatnonzero(chosen & (self._votes > 0))
        return texts_at(self.values["voter"], places[places >= self._unknown])

    def numbers_of(self, voters: Collection[str]) -> Integers:
        """(n,) numbers of voters as the boards' counts have them, sorted."""
        return places_of(voters, self.values["voter"]) - self._unknown

    def voters_of(self, numbers: Iterable[int]) -> list[str]:
        """The voters with these numbers."""
        return texts_at(self.values["voter"], np.array([*numbers], dtype=np.int64) + self._unknown)

    def sources(self, voters: Collection[str]) -> set[tuple[str, str]]:
        """Each of these voters with each network it came from; "" is no network."""
        rows = self._rows_of(voters)
        pairs = zip(*(self.codes.kept(name)[rows].tolist() for name in ("voter", "network")), strict=True)
        return {(self.values["voter"][voter], self.values["network"][network]) for voter, network in set(pairs)}

    def trusting(self, answers: Mapping[str, Answers]) -> VoteTable:
        """The same votes, where those from a network weigh by the answers of their voter."""
        if not self.from_a_network.any():
            return self
        visits = distinct(self._visit_of_row[selection(self._has_votes)])[0]
        number = np.bincount(visits // len(self.values["day"]), minlength=len(self.values["voter"]))
        found = taken(self._by_voter(answers, number), self.codes.kept("voter"))
        found[~self.from_a_network] = 1.0
        return self._with_trust(found)

    def _by_voter(self, answers: Mapping[str, Answers], days: Integers) -> Floats:
        """(voters,) trust, from the number of `days` (voters,) that each has voted on."""
        found = np.array([trust(Answers(), number) for number in range(int(days.max(initial=0)) + 1)])[days]
        for voter, own in answers.items():
            place = bisect.bisect_left(self.values["voter"], voter)
            if self.values["voter"][place : place + 1] == (voter,):
                found[place] = trust(own, int(days[place]))
        return found

    def weighed_down(self, factors: Floats) -> VoteTable:
        """The same votes, where the weights of those from a network are multiplied by `factors` (visits,)."""
        place, factors = self.visits.places(self._voter_numbers, self.codes.kept("day")), np.append(factors, 1.0)
        found = self._trust
        for rows in chunks(len(place)):
            less = np.maximum(LEAST_TRUST, np.round(factors[place[rows]] * found[rows], 5))
            found[rows] = np.where(self.from_a_network[rows], less, found[rows])
        return self._with_trust(found)

    def doubting(self, voters: Collection[str]) -> VoteTable:
        """The same votes as if these voters had proven nothing yet: the table itself where they have not."""
        doubted = self._rows_of(voters)
        if not (doubted & self.from_a_network & (self._trust > NEWCOMER)).any():
            return self
        found = self._trust
        found[doubted & self.from_a_network] = np.minimum(NEWCOMER, found[doubted & self.from_a_network])
        return self._with_trust(found)

    def _with_trust(self, trust: Floats) -> VoteTable:
        """The same votes with another trust (rows,)."""
        found = copy.copy(self)
        values = vars(found)
        for name in ("visits", "_trust", "_whole"):
            values.pop(name, None)
        object.__setattr__(found, "trust", trust)
        if self.trust is not None and not np.array_equal(found._is_visit, self._is_visit):
            values.pop("_visits", None)
        return found

    @cached_property
    def visits(self) -> Visits:
        """By numbers of voters as the boards' counts have them."""
        if not len(self._visits) or self.trust is None:
            return self._visits
        rows = selection(self._is_visit)
        place = self._visits.places(self._voter_numbers[rows], self.codes.kept("day")[rows])
        return self._visits.trusted(place, self.trust[rows])

    @cached_property
    def _visits(self) -> Visits:
        """With full trust."""
        if not (is_visit := self._is_visit).any():
            return NO_VISITS
        rows = selection(is_visit)
        voter, day = self._voter_numbers[rows], self.codes.kept("day")[rows]
        key = voter.astype(np.int64)
        key *= len(self.values["day"])
        key += day
        known = day > self._first_days[self.codes.kept("voter")[rows]]
        return Visits.of(len(self.values["day"]), key, self._networks[rows], self._cast[rows], known)

    @property
    def _is_visit(self) -> Booleans:
        """(rows,)"""
        found: Booleans = self._has_votes & (self._voter_numbers >= 0)
        found &= self.from_a_network if self.trust is None else self.from_a_network | (self.trust < 1.0)
        return found

    @property
    def _cast(self) -> Narrow:
        """(rows,) how many votes."""
        outcomes = kept(self, "outcomes")
        if outcomes.ndim == 1:
            return np.ones(len(outcomes), np.int8)
        return in_chunks(len(outcomes), lambda rows: outcomes[rows].sum(axis=1, dtype=np.int64))

    @property
    def _visit_of_row(self) -> Integers:
        """(rows,) a number per voter and day, by codes."""
        found = self.codes["voter"]
        found *= len(self.values["day"])
        found += self.codes.kept("day")
        return found

    def visit_columns(self) -> dict[str, tuple[list[str], Integers]]:
        """The columns `network` and `trust` of an anonymous file, each as texts and (rows,) places in them.

        Networks that several voters share are numbered; others are left out, since they change no weight.
        """
        visits = self.visits
        trust = np.append(visits.trust, 1.0)
        steps = np.unique(trust)
        step = np.concatenate([np.searchsorted(steps, trust[some]).astype(np.int32) for some in chunks(len(trust))])
        network = np.add(np.append(kept(visits, "network"), np.int8(ALONE)), 1, dtype=np.int32)
        names = ["", *(f"n{number:06}" for number in range(1, int(network.max(initial=0)) + 1))]
        place = visits.places(self._voter_numbers, self.codes.kept("day"))
        columns = ((names, network), ([f"{each:g}" for each in steps], step))
        return {
            name: (texts, taken(narrowed(codes), place))
            for name, (texts, codes) in zip(("network", "trust"), columns, strict=True)
        }

    def boards(self) -> list[Board]:
        """Every board with a vote: global, of each setting, scene and task, and of any of these together; broad ones
        first."""
        sizes = [max(1, len(self.values[key])) for key in PLACE]
        place = np.ravel_multi_index([self.codes.kept(key)[self._has_votes] for key in PLACE], sizes)
        played = zip(*(each.tolist() for each in np.unravel_index(distinct(place)[0], sizes)), strict=True)
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

    def counts(self, board: Board = Board(), *, without_voters: Collection[str] = ()) -> Counts:
        """The counts of one board, with the policies that have a vote on it. `without_voters`: for shadow boards."""
        rows = self._rows(board)
        if without_voters:
            rows &= ~self._rows_of(without_voters)
        return self._whole if rows.all() else self._counts(rows)

    def votes_by_task(self, board: Board) -> Counts:
        """The same, where numbers of tasks stand for settings, in the order of `occurring`; not sorted by these, and
        not summed, since sums over voters and pairs need neither."""
        names, columns = self._columns(self._rows(board), "task")
        outcomes = columns.outcomes
        if outcomes.ndim == 1:
            outcomes = np.eye(len(OUTCOMES), dtype=np.int8)[outcomes]
        return Counts(tuple(names), *columns[:3], outcomes, *columns[3:5], self.visits)

    @cached_property
    def _whole(self) -> Counts:
        """Of all rows, once for all that is computed of them."""
        return self._all_counts.visited(self.visits)

    @cached_property
    def _all_counts(self) -> Counts:
        """Of all rows, where each has a vote."""
        return self._counts(self._has_votes)

    def _counts(self, rows: Booleans) -> Counts:
        return Counts.of(*self._columns(rows, "setting"), self.visits)

    def _columns(self, rows: Booleans, apart_by: str) -> tuple[list[str], Columns]:
        """The policies of some rows (rows,), and these rows. `apart_by`: whose numbers stand for settings."""
        chosen = selection(rows)
        left, right = (self._policies[side][chosen] for side in ("left", "right"))
        present = _occurring(left, len(self._names)) | _occurring(right, len(self._names))
        setting = self.codes.kept(apart_by)[chosen]
        columns = Columns(
            _renumbered(left, present),
            _renumbered(right, present),
            self._voter_numbers[chosen],
            _renumbered(setting, _occurring(setting, len(self.values[apart_by]))),
            self.codes.kept("day")[chosen],
            kept(self, "outcomes")[chosen],
        )
        return list(itertools.compress(self._names, present.tolist())), columns

    def occurring(self, key: str, board: Board = Board()) -> list[str]:
        """The settings, scenes, tasks, ... of a board's votes, sorted: in the order of their numbers in its counts."""
        present = _occurring(self.codes.kept(key)[self._rows(board)], len(self.values[key]))
        return list(itertools.compress(self.values[key], present.tolist()))

    @cached_property
    def _unknown(self) -> int:
        """How many values of voters are "", 0 or 1. It sorts first, so that less this a code is the voter's number."""
        return int(self.values["voter"][:1] == ("",))

    @cached_property
    def _voter_numbers(self) -> Narrow:
        """(rows,) as the boards' counts have them, with UNKNOWN_VOTER."""
        codes = self.codes.kept("voter")
        return codes - np.int8(1) if self._unknown else codes

    @cached_property
    def _votes(self) -> Integers:
        """(voters,) how many votes each has."""
        voter, cast, size = self.codes.kept("voter"), self._cast, len(self.values["voter"])
        found = np.zeros(size)
        for rows in chunks(len(voter)):
            found += np.bincount(voter[rows], cast[rows], size)
        return found.astype(np.int64)

    def _rows_of(self, voters: Collection[str]) -> Booleans:
        """(rows,)"""
        chosen = np.zeros(len(self.values["voter"]), dtype=bool)
        chosen[self.numbers_of(voters) + self._unknown] = True
        return chosen[self.codes.kept("voter")]

    @cached_property
    def _has_votes(self) -> Booleans:
        """(rows,)"""
        outcomes = kept(self, "outcomes")
        found: Booleans = np.ones(len(outcomes), dtype=bool) if outcomes.ndim == 1 else np.any(outcomes, axis=1)
        return found

    @cached_property
    def from_a_network(self) -> Booleans:
        """(rows,)"""
        return self._networks >= 0

    @cached_property
    def _networks(self) -> Narrow:
        """(rows,) a number per network from 0; ALONE without one."""
        codes = self.codes.kept("network")
        return codes - np.int8(1) if self.values["network"][:1] == ("",) else codes

    @property
    def _trust(self) -> Floats:
        """(rows,) a copy."""
        return np.ones(len(kept(self, "outcomes"))) if self.trust is None else self.trust

    def first_days(self, numbers: Integers) -> Integers:
        """(n,) the place in `values` of the day of the first vote of voters, by number; one past the last day for those
        without a vote."""
        return self._first_days[numbers + self._unknown]

    @cached_property
    def _first_days(self) -> Integers:
        """(voters,) the day of each voter's first vote; past the last one without a vote."""
        voter, day = (self.codes.kept(name)[selection(self._has_votes)] for name in ("voter", "day"))
        first = np.full(len(self.values["voter"]), len(self.values["day"]))
        for rows in chunks(len(voter)):
            np.minimum.at(first, voter[rows], day[rows].astype(np.int64))
        return first

    @cached_property
    def _names(self) -> list[str]:
        return sorted({*self.values["left"], *self.values["right"]})

    @cached_property
    def _policies(self) -> dict[str, Narrow]:
        place = {name: number for number, name in enumerate(self._names)}
        found = {}
        for side in ("left", "right"):
            places = np.array([place[name] for name in self.values[side]], dtype=np.int64)
            same = len(places) == len(self._names)  # both are sorted
            codes = self.codes.kept(side)
            found[side] = codes if same else narrowed(places)[codes]
        return found

    def _rows(self, board: Board) -> Booleans:
        chosen = self._has_votes.copy()
        for key in PLACE:
            if wanted := getattr(board, key):
                known = self.values[key]
                chosen &= self.codes.kept(key) == (known.index(wanted) if wanted in known else -1)
        return chosen


def _occurring(codes: Narrow, size: int) -> Booleans:
    """(size,) which values are there."""
    found = np.zeros(size, dtype=bool)
    found[codes] = True
    return found


def _renumbered(codes: Narrow, present: Booleans) -> Narrow:
    """The same codes when only some values are left, those `present` (values,)."""
    if present.all():
        return codes
    return narrowed(np.cumsum(present) - 1)[codes]
