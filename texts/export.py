"""Voted battles as an anonymous file: prompts, answers and votes, without what is flagged."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from arena.actions.owners import REMOVED
from arena.models import Attempt, Side, Turn, Vote
from arena.rules import sides_of, turn_status
from arena.store import get_store
from rankings.models import CountedVote
from texts.models import TEXT
from texts.moderation import has_forbidden_words

FORMATS = (".jsonl", ".parquet")
ROWS_AT_ONCE = 500
Row = dict[str, Any]


def write_battles(path: Path) -> tuple[int, int]:
    """Write the voted battles to a file of one of FORMATS. Returns how many were written, and how many left out: hidden
    by moderators, with an answer that was not shown, with a word that is forbidden now, or forgotten by their visitor.

    `counted` is false where a vote is in no ranking, as where an answer named its model.
    """
    rows = _Rows()
    if path.suffix == ".parquet":
        _write_parquet(path, rows)
    else:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return rows.written, rows.left_out


class _Rows:
    """Iterating yields the rows, oldest vote first, and counts them. Voters and battles get numbers."""

    def __init__(self) -> None:
        self.written = self.left_out = 0
        self._voters: dict[str, str] = {}

    def __iter__(self) -> Iterator[Row]:
        for vote in _votes().iterator(chunk_size=ROWS_AT_ONCE):
            turns = _turns(vote)
            if turns is None:
                self.left_out += 1
                continue
            self.written += 1
            yield {"battle_id": f"b{self.written}", "voter_id": self._number(vote.user_id), **_about(vote, turns)}

    def _number(self, visitor: str | None) -> str:
        """ "" for an unknown one."""
        return self._voters.setdefault(visitor, f"v{len(self._voters) + 1}") if visitor else ""


def _votes() -> QuerySet[Vote]:
    about = ("battle__session", "battle__left_model", "battle__right_model", "counted_vote")
    return Vote.objects.filter(kind=TEXT).select_related(*about).order_by("pk")


def _about(vote: Vote, turns: list[Row]) -> Row:
    counted: CountedVote | None = getattr(vote, "counted_vote", None)
    return {
        "day": vote.voted_at.date().isoformat(),
        "left": vote.left_model_id,
        "right": vote.right_model_id,
        "vote": vote.vote,
        "reasons": [f"{name}: {side}" for name, side in sorted(vote.reasons.items())],
        "counted": counted is not None and counted.counted,
        "turns": turns,
    }


def _turns(vote: Vote) -> list[Row] | None:
    """The completed turns of a battle. None if the battle is to be left out."""
    turns = sorted(vote.battle.turns_with_sides(), key=lambda turn: turn.seq)
    if vote.battle.hidden_at is not None or any(_is_flagged(turn) for turn in turns):
        return None
    rows = [_turn(turn) for turn in turns if turn_status(turn) == "completed"]
    texts = itertools.chain.from_iterable((row["prompt"], row["left"], row["right"]) for row in rows)
    return None if any(text is None or has_forbidden_words(text) for text in texts) else rows


def _is_flagged(turn: Turn) -> bool:
    moderated = any(attempt.termination_reason == "moderated" for attempt in turn.attempts.all())
    return moderated or turn.instruction_hidden_at is not None or turn.instruction == REMOVED


def _turn(turn: Turn) -> Row:
    """A text that is not in the store any more is None."""
    sides = sides_of(turn)
    again = getattr(turn, "again", None)
    return {
        "prompt": turn.instruction,
        "start": turn.start,
        "again": again is not None,
        **{str(side): _text(sides[side]) for side in Side},
        **{f"{side}_tokens": getattr(getattr(sides[side], "answer", None), "answer_tokens", None) for side in Side},
        **{f"{side}_liked": getattr(getattr(sides[side], "answer", None), "liked", False) for side in Side},
    }


def _text(attempt: Attempt) -> str | None:
    document = get_store().get(attempt.episode_id)
    return None if document is None else str(document["text"])


def _write_parquet(path: Path, rows: _Rows) -> None:
    import pyarrow as pa  # which the web does not need
    from pyarrow import parquet

    turn = {"prompt": pa.string(), "start": pa.string(), "again": pa.bool_(), "left": pa.string(), "right": pa.string()}
    more = {"left_tokens": pa.int64(), "right_tokens": pa.int64(), "left_liked": pa.bool_(), "right_liked": pa.bool_()}
    texts = ("battle_id", "voter_id", "day", "left", "right", "vote")
    lists = {"reasons": pa.list_(pa.string()), "turns": pa.list_(pa.struct({**turn, **more}))}
    schema = pa.schema({**dict.fromkeys(texts, pa.string()), "counted": pa.bool_(), **lists})
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        each = iter(rows)
        while batch := list(itertools.islice(each, ROWS_AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
