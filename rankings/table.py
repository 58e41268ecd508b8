"""All counts as columns of numbers, and the boards as sums of their rows. No Django."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankings.counts import UNKNOWN_VOTER, Columns, Counts, Integers
from rankings.graph import Booleans

GLOBAL = "global"
KEYS = ("robot", "scene", "task", "left", "right", "voter", "day")


@dataclass(frozen=True)
class Board:
    """Which rows are on it: those of a robot, a scene, a task; empty text means all of them."""

    robot: str = ""
    scene: str = ""
    task: str = ""

    @property
    def name(self) -> str:
        """ "global", "robot=widowx", "robot=widowx,scene=table", ..."""
        parts = (("robot", self.robot), ("scene", self.scene), ("task", self.task))
        return ",".join(f"{kind}={value}" for kind, value in parts if value) or GLOBAL

    def holds(self, robot: str, scene: str, task: str) -> bool:
        wanted = ((self.robot, robot), (self.scene, scene), (self.task, task))
        return all(not mine or mine == theirs for mine, theirs in wanted)


@dataclass(frozen=True)
class Table:
    """One row per robot, scene, task, side order of a pair, voter and day. Texts stand once, in sorted `values`.

    `codes[key]` (rows,) is each row's place in `values[key]`; the voter of nobody known is "".
    """

    values: dict[str, tuple[str, ...]]
    codes: dict[str, Integers]
    outcomes: Integers
    """(rows, 4) how many votes of each outcome, or (rows,) the outcome of a row's single vote, a place in OUTCOMES."""

    @classmethod
    def of(cls, rows: Iterable[Sequence[str | int]]) -> Table:
        """Rows of the seven KEYS, then the four counts. Rows without a count are dropped, equal ones summed."""
        columns = list(zip(*rows, strict=True)) or [()] * (len(KEYS) + 4)
        outcomes = np.array(columns[len(KEYS) :], dtype=np.int64).T.reshape(-1, 4)
        return cls.coded(dict(zip(KEYS, columns[: len(KEYS)], strict=True)), outcomes)

    @classmethod
    def coded(cls, texts: Mapping[str, Sequence[str]], outcomes: Integers) -> Table:
        values, codes = {}, {}
        for key in KEYS:
            known = sorted(set(texts[key]))
            place = {value: number for number, value in enumerate(known)}
            values[key] = tuple(known)
            codes[key] = np.fromiter((place[text] for text in texts[key]), np.int64, len(texts[key]))
        return cls(values, codes, outcomes)

    @property
    def against_themselves(self) -> list[str]:
        """Policies with a vote against themselves."""
        left, right = self._policies["left"], self._policies["right"]
        return [self._names[place] for place in np.unique(left[left == right]).tolist()]

    def boards(self) -> list[Board]:
        """Every board with a vote: global, per robot, per scene, per robot and scene, per task."""
        robots, scenes, tasks = (self._voted(key) for key in ("robot", "scene", "task"))
        found = [Board(), *(Board(robot=robot) for robot in robots), *(Board(scene=scene) for scene in scenes)]
        found += [Board(robot=robot, scene=scene) for robot in robots for scene in scenes]
        found += [Board(task=task) for task in tasks if task]
        return [board for board in found if self._rows(board).any()]

    def counts(self, board: Board = Board(), *, without_voters: Collection[str] = ()) -> Counts:
        """The counts of one board, with the policies that have a vote on it. `without_voters`: for shadow boards."""
        rows = self._rows(board)
        if without_voters:
            left_out = [number for number, voter in enumerate(self.values["voter"]) if voter in set(without_voters)]
            rows &= ~np.isin(self.codes["voter"], left_out)
        chosen = slice(None) if rows.all() else rows
        left, right = (self._policies[side][chosen] for side in ("left", "right"))
        present = np.bincount(np.concatenate([left, right]), minlength=len(self._names)) > 0
        voter, robot, day = (self.codes[key][chosen] for key in ("voter", "robot", "day"))
        return Counts.of(
            [name for name, here in zip(self._names, present.tolist(), strict=True) if here],
            Columns(
                _renumbered(left, present),
                _renumbered(right, present),
                voter - 1 if self._nobody_known else voter,
                _renumbered(robot, np.bincount(robot) > 0),
                day,
                self.outcomes[chosen],
            ),
        )

    @cached_property
    def _nobody_known(self) -> bool:
        """ "" sorts first; then every number is one less, and its own UNKNOWN_VOTER."""
        return self.values["voter"][:1] == ("",) and UNKNOWN_VOTER == -1

    @cached_property
    def _has_votes(self) -> Booleans:
        """(rows,)"""
        if self.outcomes.ndim == 1:
            return np.ones(len(self.outcomes), dtype=bool)
        found: Booleans = np.any(self.outcomes, axis=1)
        return found

    @cached_property
    def _names(self) -> list[str]:
        return sorted({*self.values["left"], *self.values["right"]})

    @cached_property
    def _policies(self) -> dict[str, Integers]:
        place = {name: number for number, name in enumerate(self._names)}
        return {
            side: np.array([place[name] for name in self.values[side]], dtype=np.int64)[self.codes[side]]
            for side in ("left", "right")
        }

    def _voted(self, key: str) -> list[str]:
        return [self.values[key][code] for code in np.unique(self.codes[key][self._has_votes]).tolist()]

    def _rows(self, board: Board) -> Booleans:
        chosen = self._has_votes.copy()
        for key in ("robot", "scene", "task"):
            if wanted := getattr(board, key):
                codes = [code for code, value in enumerate(self.values[key]) if value == wanted]
                chosen &= np.isin(self.codes[key], codes)
        return chosen


def _renumbered(codes: Integers, present: Booleans) -> Integers:
    """The same codes when only some values are left, those `present` (values,)."""
    found: Integers = (np.cumsum(present) - 1)[codes]
    return found
