"""Files of SnakeBench, version 1: read, checked, and turned into plain values. No Django.

A file is the only truth about its game: results are read as they are written and never derived. What is absent is
None. Times without a zone are UTC. docs/wormarena.md lists the fields.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

VERSION = 1
SLOTS = ("0", "1")
RESULTS = ("won", "lost", "tied")
MOVES = ("UP", "DOWN", "LEFT", "RIGHT")
PROVIDER_ERROR = "provider error"
"""How the rationale of a move begins that was drawn because a provider failed, in any case of letters."""
MOST_BYTES = 32 * 2**20
LARGEST = 10**9
"""The largest whole number that a file may hold: sums over a million games stay whole numbers of 64 bits."""
MOST_SCORE = 10**6
WIDEST = 1000
LONGEST_NAME = 200
LONGEST_WORD = 100
MOST_DOLLARS = 10_000.0


class GameRefused(ValueError):
    """A file that is no game. `field` is where, such as `players.1.result`; empty for the file as a whole."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}" if field else why)
        self.field, self.why = field, why


@dataclass(frozen=True)
class Spent:
    """Tokens, and cost in US dollars. `negative`: the file has a cost below 0, so that none is known."""

    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    negative: bool = False

    def without_cost(self) -> Spent:
        return replace(self, cost=None)


@dataclass(frozen=True)
class PlayerFacts:
    """What a file says about one slot. `death_round` counts from 0."""

    slot: int
    name: str
    result: str
    score: int
    death_reason: str | None
    death_round: int | None
    spent: Spent


@dataclass(frozen=True)
class Move:
    slot: int
    round: int
    move: str
    rationale: str
    spent: Spent

    @property
    def is_provider_error(self) -> bool:
        return self.rationale[: len(PROVIDER_ERROR)].lower() == PROVIDER_ERROR


@dataclass(frozen=True)
class GameFacts:
    """What a file says about its game. `frames`: its rounds, each with the state after it (`rounds_of`). `content_hash`
    is the same however the file is indented or its lines end."""

    game_id: str
    started_at: datetime | None
    ended_at: datetime | None
    game_type: str | None
    width: int
    height: int
    num_apples: int | None
    max_rounds: int | None
    rounds_played: int | None
    spent: Spent
    players: tuple[PlayerFacts, ...]
    moves: tuple[Move, ...]
    frames: Sequence[Mapping[str, Any]]
    content_hash: str
    document: Mapping[str, Any]


def read(path: Path) -> GameFacts:
    """Raises GameRefused for what is no file of a game, and OSError for one that cannot be read."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise GameRefused("", f"{size} bytes; a file has at most {MOST_BYTES}")
    return parse(path.read_bytes())


def parse(raw: bytes) -> GameFacts:
    """The facts of one game. Raises GameRefused."""
    try:
        return facts_of(document_of(raw))
    except RecursionError:
        raise GameRefused("", "nested too deeply") from None


def document_of(raw: bytes) -> dict[str, Any]:
    """One JSON object, in which no key comes twice, no number is NaN and no text is beyond Unicode."""
    if len(raw) > MOST_BYTES:
        raise GameRefused("", f"{len(raw)} bytes; a file has at most {MOST_BYTES}")
    try:
        document = json.loads(
            raw.decode("utf-8-sig"), object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite
        )
    except UnicodeDecodeError:
        raise GameRefused("", "not UTF-8") from None
    except json.JSONDecodeError as error:
        raise GameRefused("", _told(error)) from None
    except GameRefused:
        raise
    except ValueError:  # a whole number of thousands of digits
        raise GameRefused("", "a number is too long") from None
    if not isinstance(document, dict):
        raise GameRefused("", "not a JSON object")
    return document


def facts_of(document: Mapping[str, Any]) -> GameFacts:
    """Raises GameRefused where a field is missing or is not what it should be."""
    _check_version(document)
    top = Reader(document)
    game, players, frames = top.object("game"), top.object("players"), top.objects("frames")
    board, metadata = game.object("board"), top.optional_object("metadata")
    _check_state(top.optional_object("initial_state"))
    for frame in frames:
        _check_state(frame.optional_object("state"))
    rounds = rounds_of(document)
    moves = _each_once([move for frame in frames[: len(rounds)] for move in _moves(frame)])
    sides = _priced(_players(players), moves)
    spent = _spent(top.optional_object("totals"))
    return GameFacts(
        game_id=_id_of(game, metadata),
        started_at=game.time("started_at"),
        ended_at=game.time("ended_at"),
        game_type=game.optional_word("game_type"),
        width=board.whole("width", 1, WIDEST),
        height=board.whole("height", 1, WIDEST),
        num_apples=board.optional_whole("num_apples"),
        max_rounds=game.optional_whole("max_rounds"),
        rounds_played=game.optional_whole("rounds_played"),
        spent=spent.without_cost() if any(player.spent.negative for player in sides) else spent,
        players=sides,
        moves=moves,
        frames=rounds,
        content_hash=content_hash(document),
        document=document,
    )


def rounds_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The frames as they have been written since December 2025, with the state after the round. Earlier files have the
    state before it, and one frame more, which has the last state and the last moves once more."""
    frames: list[dict[str, Any]] = document["frames"]
    first, start = (frames[0].get("state") if frames else None), document.get("initial_state")
    if not first or not start or first.get("snakes") != start.get("snakes") or not _all_live(first):
        return frames
    return [{**frame, "state": after.get("state")} for frame, after in pairwise(frames)]


def _all_live(state: Mapping[str, Any]) -> bool:
    """A snake that lives has moved in every round, unless another died in it."""
    alive = state.get("alive")
    return isinstance(alive, dict) and all(alive.values())


def content_hash(document: Mapping[str, Any]) -> str:
    plain = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


class Reader:
    """Reads the fields of an object, and refuses with the whole name of a field."""

    def __init__(self, fields: Mapping[str, Any], where: str = "") -> None:
        self.fields, self.where = fields, where

    def object(self, name: str) -> Reader:
        value = self._there(name)
        if not isinstance(value, dict):
            self.refuse(name, "expected an object")
        return Reader(value, self._at(name))

    def optional_object(self, name: str) -> Reader:
        return self.object(name) if self.fields.get(name) is not None else Reader({}, self._at(name))

    def objects(self, name: str) -> list[Reader]:
        value = self._there(name)
        if not isinstance(value, list):
            self.refuse(name, "expected a list")
        for number, each in enumerate(value):
            if not isinstance(each, dict):
                self.refuse(f"{name}.{number}", "expected an object")
        return [Reader(each, self._at(f"{name}.{number}")) for number, each in enumerate(value)]

    def whole(self, name: str, least: int = 0, most: int = LARGEST) -> int:
        value = self._there(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(name, f"{value!r:.60}; expected a whole number from {least} to {most}")
        return int(value)

    def optional_whole(self, name: str) -> int | None:
        return None if self.fields.get(name) is None else self.whole(name)

    def optional_amount(self, name: str) -> float | None:
        value = self.fields.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value < MOST_DOLLARS:
            self.refuse(name, f"{value!r:.60}; expected a number below {MOST_DOLLARS:g}")
        return float(value)

    def text(self, name: str) -> str:
        value = self._there(name)
        if "\0" in (text := self._unicode(name, value)):
            self.refuse(name, "has a character that is none")
        return text

    def prose(self, name: str) -> str:
        """What a model wrote, "" where it is absent. A NUL, which no database keeps, becomes U+FFFD."""
        value = self.fields.get(name)
        return "" if value is None else self._unicode(name, value).replace("\0", "\ufffd")

    def _unicode(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            self.refuse(name, f"{value!r:.60}; expected a text")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            self.refuse(name, "has a character that is none")
        return value

    def word(self, name: str, longest: int = LONGEST_WORD) -> str:
        value = self.text(name)
        if not value or len(value) > longest:
            self.refuse(name, f"{len(value)} characters; expected 1 to {longest}")
        return value

    def optional_word(self, name: str) -> str | None:
        return None if self.fields.get(name) is None else self.word(name)

    def one_of(self, name: str, known: Sequence[str]) -> str:
        value = self._there(name)
        if value not in known:
            self.refuse(name, f"{value!r:.60}; known are {', '.join(known)}")
        return str(value)

    def time(self, name: str) -> datetime | None:
        if self.fields.get(name) is None:
            return None
        value = self.text(name)
        try:
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self.refuse(name, f"{value!r:.60}; expected a time in ISO 8601")

    def refuse(self, name: str, why: str) -> NoReturn:
        raise GameRefused(self._at(name), why)

    def _there(self, name: str) -> Any:
        if self.fields.get(name) is None:
            self.refuse(name, "is missing")
        return self.fields[name]

    def _at(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name


def _check_version(document: Mapping[str, Any]) -> None:
    if "rounds" in document and "frames" not in document:
        raise GameRefused("version", "the old format, with rounds instead of frames; expected version 1")
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        raise GameRefused("version", f"{version!r:.60}; expected {VERSION}")


def _id_of(game: Reader, metadata: Reader) -> str:
    reader, name = (game, "id") if game.fields.get("id") is not None else (metadata, "game_id")
    found = reader.word(name)
    if not all(letter.isascii() and (letter.isalnum() or letter in "-_.") for letter in found) or found[0] == ".":
        reader.refuse(name, f"{found!r:.60}; expected letters, digits, hyphens, dots and underscores")
    return found


def _players(players: Reader) -> tuple[PlayerFacts, ...]:
    if sorted(players.fields) != sorted(SLOTS):
        raise GameRefused("players", f"slots {', '.join(players.fields) or 'none'}; expected 0 and 1")
    return tuple(_player(players.object(slot), int(slot)) for slot in SLOTS)


def _player(player: Reader, slot: int) -> PlayerFacts:
    death = player.optional_object("death")
    died = bool(death.fields)
    return PlayerFacts(
        slot=slot,
        name=player.word("name", LONGEST_NAME),
        result=player.one_of("result", RESULTS),
        score=player.whole("final_score", 0, MOST_SCORE),
        death_reason=death.word("reason") if died else None,
        death_round=death.optional_whole("round") if died else None,
        spent=_spent(player.optional_object("totals")),
    )


def _priced(players: tuple[PlayerFacts, ...], moves: tuple[Move, ...]) -> tuple[PlayerFacts, ...]:
    """A player with a move whose cost is not known has no known cost."""
    unknown = {player.slot for player in players if player.spent.negative}
    unknown |= {move.slot for move in moves if move.spent.negative}
    return tuple(
        replace(each, spent=replace(each.spent, cost=None, negative=True)) if each.slot in unknown else each
        for each in players
    )


def _moves(frame: Reader) -> list[Move]:
    moves = frame.optional_object("moves")
    if not moves.fields:
        return []
    number = frame.whole("round")
    for slot in moves.fields:
        if slot not in SLOTS:
            moves.refuse(slot, "expected slot 0 or 1")
    return [_move(moves.object(slot), int(slot), number) for slot in SLOTS if moves.fields.get(slot) is not None]


def _move(move: Reader, slot: int, number: int) -> Move:
    return Move(slot, number, move.one_of("move", MOVES), move.prose("rationale"), _spent(move))


def _each_once(moves: list[Move]) -> tuple[Move, ...]:
    seen = set[tuple[int, int]]()
    for move in moves:
        if (move.round, move.slot) in seen:
            raise GameRefused("frames", f"slot {move.slot} moves twice in round {move.round}")
        seen.add((move.round, move.slot))
    if sum(move.spent.cost or 0.0 for move in moves) >= MOST_DOLLARS:
        raise GameRefused("frames", f"the moves cost more than {MOST_DOLLARS:g} dollars together")
    return tuple(moves)


def _check_state(state: Reader) -> None:
    """Cells are pairs of whole numbers: what is drawn and simulated again must be what it seems."""
    snakes = state.optional_object("snakes")
    for slot in snakes.fields:
        _check_cells(snakes, slot)
    if state.fields.get("apples") is not None:
        _check_cells(state, "apples")


def _check_cells(reader: Reader, name: str) -> None:
    cells = reader.fields[name]
    if not isinstance(cells, list) or not all(_is_cell(cell) for cell in cells):
        reader.refuse(name, "expected a list of cells [x, y]")


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, list) and len(cell) == 2 and type(cell[0]) is int and type(cell[1]) is int


def _spent(fields: Reader) -> Spent:
    tokens = fields.optional_whole("input_tokens"), fields.optional_whole("output_tokens")
    cost = fields.optional_amount("cost")
    negative = cost is not None and cost < 0
    return Spent(*tokens, None if negative else cost, negative)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise GameRefused(twice[:60], "is there twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise GameRefused("", f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise GameRefused("", f"{text[:60]} is too large a number")
    return value


def _told(error: json.JSONDecodeError) -> str:
    if error.msg == "Extra data":
        return f"something follows the document, in line {error.lineno}"
    return f"not JSON, or not all of it: {error.msg}, line {error.lineno}"
