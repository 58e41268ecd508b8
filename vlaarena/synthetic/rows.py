"""The rows of a synthetic arena, table by table, and bulk insertion into the database.

All names say that the data is synthetic. Votes follow from random skills, so that the boards look plausible. The newest
battles have a turn, two rollouts and two episodes; older battles have only a vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import islice, product
from typing import Any

import numpy as np
from django.core.management.color import no_style
from django.db import connection, models
from django.utils import timezone

from arena.models import (
    Attempt,
    AttemptStatus,
    Battle,
    BattleStatus,
    ProcessingStatus,
    Session,
    Side,
    StartKind,
    Turn,
    Vote,
)
from arena.store import Document
from policies.models import ROBOTS, Policy
from rankings.models import CountedVote, VoteCount
from rankings.tally.counts import OUTCOMES
from robots.models import Rollout
from simulation import catalogue

MARK = "synthetic"
POLICIES = 50
DAYS = 60
VOTES_PER_VOTER = 40
VOTES_PER_SESSION = 10
TIE_ZONE, BAD_SHARE = 0.4, 0.5
CHUNK = 5000

Row = tuple[Any, ...]


class Load:
    """`votes` votes over the last DAYS days. The newest `played` of their battles have copies of `episodes`.

    `episodes` are documents in pairs that share an instruction. Arrays are (votes,), in the order of the votes. The
    votes of a session are consecutive.
    """

    def __init__(self, votes: int, played: int, episodes: Sequence[Document], seed: int = 1) -> None:
        if not 0 <= played <= votes:
            raise ValueError(f"{played} battles played of {votes}; expected at most one per vote")
        rng = np.random.default_rng(seed)
        self.votes, self.first_played, self._episodes = votes, votes - played, episodes
        self.voters = max(1, votes // VOTES_PER_VOTER)
        self.sessions = -(-votes // VOTES_PER_SESSION)
        self.policies = [f"{MARK}-{number:02}" for number in range(POLICIES)]
        self._voter = np.repeat(rng.integers(0, self.voters, self.sessions), VOTES_PER_SESSION)[:votes]
        self._left = rng.integers(0, POLICIES, votes)
        self._right = (self._left + rng.integers(1, POLICIES, votes)) % POLICIES
        skill = rng.normal(0.0, 0.8, POLICIES)
        ahead = skill[self._left] - skill[self._right] + rng.logistic(0.0, 1.0, votes)
        even = np.where(rng.random(votes) < BAD_SHARE, OUTCOMES.index("both_bad"), OUTCOMES.index("tie"))
        self._outcome = np.where(np.abs(ahead) < TIE_ZONE, even, np.where(ahead > 0, 0, 1))
        self._dwell = rng.integers(3_000, 60_000, votes)
        self._seed = rng.integers(0, 2**31, votes)
        self._began = timezone.now() - timedelta(days=DAYS)
        self._step = timedelta(days=DAYS) / votes
        scene = catalogue.scenes()[0]
        self._place = (scene.robots[0], scene.id)

    def tables(self) -> Iterator[tuple[type[models.Model], list[str], Iterable[Row]]]:
        """(model, columns, rows), ordered so that every row comes after those that it refers to."""
        columns = ["session_id", "kind", "setting", "scene", "user_id", "created_at", "last_active_at"]
        yield Session, columns, self._sessions()
        columns = ["id", "battle_id", "session_id", "seq_in_session", "left_model_id", "right_model_id", "seed"]
        columns += ["status", "event_seq", "created_at", "updated_at"]
        yield Battle, columns, self._battles()
        columns = ["id", "turn_id", "session_id", "battle_id", "battle_seq_in_session", "seq", "instruction", "start"]
        columns += ["settled_at", "created_at"]
        yield Turn, columns, self._turns()
        columns = ["episode_id", "turn_id", "side", "model_id", "status", "tries", "worker", "length", "success"]
        columns += ["progress", "termination_reason", "duration_ms", "created_at", "started_at"]
        yield Attempt, [*columns, "finished_at"], self._attempts()
        yield Rollout, ["attempt_id", "start_hash"], self._rollouts()
        columns = ["id", "vote_id", "battle_id", "session_id", "user_id", "kind", "setting", "scene", "left_model_id"]
        columns += ["right_model_id", "vote", "dwell_ms"]
        yield Vote, [*columns, "processing_status", "processed_at", "voted_at"], self._votes()
        cells, place = self._cells()
        columns = ["id", "robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "voter", "day"]
        yield VoteCount, [*columns, *OUTCOMES], cells
        rows = ((number + 1, int(place[number]) + 1, True, False) for number in range(self.votes))
        yield CountedVote, ["vote_id", "count_id", "counted", "excluded"], rows

    def documents(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(index of the copied episode, the fields that differ from it) of every document in the episode store."""
        for number, side in self._rollout_keys():
            fields = {
                "_id": _episode(number, side),
                "attempt": 1,
                "battle_id": _id("battle", number),
                "turn_id": _id("turn", number),
                "session_id": self._session(number),
                "side": str(side),
                "model_id": self._policy(number, side),
                "created_at": self._at(number),
            }
            yield self._episode_index(number, side), fields

    def registry(self) -> list[Policy]:
        return [
            Policy(
                id=name,
                name=f"Synthetic {number}",
                family="film",
                adapter="film",
                organization="Nobody",
                provenance="Synthetic data for measuring",
                revision=f"{number:064x}",
            )
            for number, name in enumerate(self.policies)
        ]

    def _at(self, number: int) -> datetime:
        return self._began + number * self._step

    def _session(self, number: int) -> str:
        return _id("sess", number // VOTES_PER_SESSION)

    def _user(self, number: int) -> str:
        return f"{MARK}-{self._voter[number]:06}"

    def _policy(self, number: int, side: Side) -> str:
        places = self._left if side == Side.LEFT else self._right
        return self.policies[int(places[number])]

    def _rollout_keys(self) -> Iterator[tuple[int, Side]]:
        return product(range(self.first_played, self.votes), Side)

    def _episode_index(self, number: int, side: Side) -> int:
        return (2 * number + (side == Side.RIGHT)) % len(self._episodes)

    def _sessions(self) -> Iterator[Row]:
        for session in range(self.sessions):
            first, last = session * VOTES_PER_SESSION, min((session + 1) * VOTES_PER_SESSION, self.votes) - 1
            yield (_id("sess", session), ROBOTS, *self._place, self._user(first), self._at(first), self._at(last))

    def _battles(self) -> Iterator[Row]:
        for number in range(self.votes):
            sides = (self._policy(number, Side.LEFT), self._policy(number, Side.RIGHT))
            seq, at = number % VOTES_PER_SESSION + 1, self._at(number)
            key = (number + 1, _id("battle", number), self._session(number), seq)
            yield (*key, *sides, int(self._seed[number]), str(BattleStatus.VOTED), 9, at, at)

    def _turns(self) -> Iterator[Row]:
        for number in range(self.first_played, self.votes):
            episode, at = self._episodes[self._episode_index(number, Side.LEFT)], self._at(number)
            key = (number - self.first_played + 1, _id("turn", number), self._session(number), _id("battle", number))
            order = (number % VOTES_PER_SESSION + 1, 1)
            yield (*key, *order, episode["instruction"], str(StartKind.CONTINUE), at, at)

    def _attempts(self) -> Iterator[Row]:
        outcome = ("steps", "success", "progress", "termination_reason", "duration_ms")
        for number, side in self._rollout_keys():
            episode, at = self._episodes[self._episode_index(number, side)], self._at(number)
            key = (_episode(number, side), _id("turn", number), str(side), self._policy(number, side))
            played = (str(AttemptStatus.COMPLETED), 1, MARK, *(episode[name] for name in outcome))
            yield (*key, *played, at, at - timedelta(milliseconds=episode["duration_ms"]), at)

    def _rollouts(self) -> Iterator[Row]:
        for number, side in self._rollout_keys():
            yield (_episode(number, side), self._episodes[self._episode_index(number, side)]["start_hash"])

    def _votes(self) -> Iterator[Row]:
        done = str(ProcessingStatus.PROCESSED)
        for number in range(self.votes):
            key = (number + 1, _id("vote", number), _id("battle", number), self._session(number), self._user(number))
            sides = (self._policy(number, Side.LEFT), self._policy(number, Side.RIGHT))
            vote = (OUTCOMES[self._outcome[number]], int(self._dwell[number]))
            yield (*key, ROBOTS, *self._place, *sides, *vote, done, self._at(number), self._at(number))

    def _cells(self) -> tuple[Iterator[Row], np.ndarray[Any, np.dtype[np.int64]]]:
        """The rows of counts, and for each vote (votes,) the index of its row."""
        days = np.array([self._at(number).astimezone(UTC).date().toordinal() for number in range(self.votes)])
        tasks = [_task(episode["instruction"]) for episode in self._episodes]
        names = sorted({*tasks, ""})
        indices = np.array([names.index(name) for name in tasks] or [0])
        numbers = np.arange(self.votes)
        played = numbers >= self.first_played
        task = np.where(played, indices[2 * numbers % len(indices)], names.index(""))
        key = ((self._voter * (days.max() + 1) + days) * len(names) + task) * POLICIES**2
        key += self._left * POLICIES + self._right
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        sums = np.zeros((len(first), len(OUTCOMES)), dtype=np.int64)
        np.add.at(sums, (place, self._outcome), 1)

        def rows() -> Iterator[Row]:
            for cell, (vote, outcomes) in enumerate(zip(first.tolist(), sums.tolist(), strict=True)):
                sides = (self._policy(vote, Side.LEFT), self._policy(vote, Side.RIGHT))
                day = date.fromordinal(int(days[vote]))
                yield (cell + 1, *self._place, names[task[vote]], *sides, self._user(vote), day, *outcomes)

        return rows(), place


def write(model: type[models.Model], columns: list[str], rows: Iterable[Row]) -> None:
    """Insert many rows: by COPY on PostgreSQL, by one statement per chunk elsewhere. Sequences are reset afterwards.

    Required columns that are not named get the model's default.
    """
    known = {name: field.column for field in model._meta.concrete_fields for name in (field.name, field.attname)}
    columns = [str(known.get(name, name)) for name in columns]
    usual = {
        str(field.column): field.get_db_prep_save(field.get_default(), connection)
        for field in model._meta.concrete_fields
        if field.column not in columns and not (field.null or field.primary_key)
    }
    columns, same = [*columns, *usual], tuple(usual.values())
    table = connection.ops.quote_name(model._meta.db_table)
    names = ", ".join(connection.ops.quote_name(column) for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((*row, *same))
            for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
                cursor.execute(statement)
            return
        if connection.vendor == "sqlite":  # rows do not come in the order of the indexes, so these should fit in memory
            cursor.execute("PRAGMA cache_size = -1000000")
        values = ", ".join(["%s"] * len(columns))
        statement = f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608 - names of our own columns
        fresh = iter(rows)
        while chunk := [tuple(_plain(value) for value in (*row, *same)) for row in islice(fresh, CHUNK)]:
            cursor.executemany(statement, chunk)


def _plain(value: Any) -> Any:
    """The value as Django stores it in SQLite."""
    if isinstance(value, datetime):
        return str(value.astimezone(UTC).replace(tzinfo=None))
    return str(value) if isinstance(value, date) else value


def _task(instruction: str) -> str:
    known = catalogue.task_for(instruction)
    return known[0] if known else ""


def _id(prefix: str, number: int) -> str:
    return f"{prefix}_{number:032x}"


def _episode(number: int, side: Side) -> str:
    return _id("ep", 2 * number + (side == Side.RIGHT))
