"""Plays a file's moves again by the rules, and compares what comes out with what the file says.

Only where new apples appear is taken from the file: it was chance. Everything else follows from the first state and
the moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from wormarena.engine.rules import Cell, Position, Round, play_round, result_of
from wormarena.game_file import GameFacts

Verdict = Literal["same", "differs", "cannot", "refused"]


class Check(NamedTuple):
    """`cannot`: the file lacks states or moves, so that nothing can be said. `refused`: it is no game at all."""

    verdict: Verdict
    why: str = ""


class Differs(Exception):
    pass


class Cannot(Exception):
    pass


def check(facts: GameFacts) -> Check:
    try:
        position, deaths = _replayed(facts)
        _compare_end(facts, position, deaths)
    except Differs as found:
        return Check("differs", str(found))
    except Cannot as found:
        return Check("cannot", str(found))
    return Check("same")


def _replayed(facts: GameFacts) -> tuple[Position, dict[str, tuple[str, int]]]:
    """The last position, and slot -> (cause, round) of the deaths."""
    position = _position(facts, facts.document.get("initial_state"), "initial_state")
    deaths: dict[str, tuple[str, int]] = {}
    for number, frame in enumerate(facts.frames):
        if position.dead:
            raise Differs(f"frames.{number}: the game goes on after a death")
        where = f"frames.{number}"
        if frame.get("round") != number:
            raise Cannot(f"{where}: round {frame.get('round')}; some are missing")
        done = play_round(position, _moves(frame, position, where))
        written = _position(facts, frame.get("state"), where)
        _compare(done, written, frame["state"], where)
        deaths |= {slot: (cause, number) for slot, cause in done.deaths.items()}
        position = Position(
            written.width,
            written.height,
            done.position.snakes,
            written.apples,
            done.position.scores,
            done.position.dead,
        )
    return position, deaths


def _compare(done: Round, written: Position, state: Mapping[str, Any], where: str) -> None:
    after = done.position
    alive = {slot: slot not in after.dead for slot in after.snakes}
    if state.get("alive") is not None and state["alive"] != alive:
        raise Differs(f"{where}.state.alive: by the rules {alive}")
    if dict(written.scores) != dict(after.scores):
        raise Differs(f"{where}.state.scores: by the rules {dict(after.scores)}")
    if done.deaths:
        return  # what is drawn of the dead differs between releases
    if dict(written.snakes) != dict(after.snakes):
        raise Differs(f"{where}.state.snakes: not what the moves lead to")
    if not set(after.apples) <= set(written.apples):
        raise Differs(f"{where}.state.apples: one that nobody ate is gone")
    taken = {cell for body in after.snakes.values() for cell in body}
    if taken & set(written.apples):
        raise Differs(f"{where}.state.apples: one lies on a snake")


def _compare_end(facts: GameFacts, position: Position, deaths: Mapping[str, tuple[str, int]]) -> None:
    results = result_of(position)
    for player in facts.players:
        slot = str(player.slot)
        if player.score != position.scores[slot]:
            raise Differs(f"players.{slot}.final_score: {player.score}, by the rules {position.scores[slot]}")
        cause, number = deaths.get(slot, (None, None))
        if player.death_reason != cause or player.death_round not in (number, None):
            raise Differs(f"players.{slot}.death: by the rules {cause or 'none'} in round {number}")
        if player.result != results[slot]:
            raise Differs(f"players.{slot}.result: {player.result}, by the rules {results[slot]}")


def _position(facts: GameFacts, state: Any, where: str) -> Position:
    try:
        snakes = {slot: _cells(state["snakes"][slot]) for slot in ("0", "1")}
        scores = {slot: int(state["scores"][slot]) for slot in ("0", "1")}
        apples = _cells(state["apples"])
    except (KeyError, TypeError, ValueError):
        raise Cannot(f"{where}: no whole state") from None
    if not all(snakes.values()):
        raise Cannot(f"{where}: a snake without cells")
    return Position(facts.width, facts.height, snakes, apples, scores)


def _cells(cells: Any) -> tuple[Cell, ...]:
    return tuple((x, y) for x, y in cells)


def _moves(frame: Mapping[str, Any], position: Position, where: str) -> dict[str, str]:
    try:
        return {slot: str(frame["moves"][slot]["move"]) for slot in position.living}
    except (KeyError, TypeError):
        raise Cannot(f"{where}: a move is missing") from None
