"""Plays a game of two players: everything that is drawn comes from a seed, so the moves alone decide the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic

from wormarena.engine.players import NONE, Choice, Player, ProviderFailed
from wormarena.engine.rules import STEPS, Cell, Position, has_ended, play_round

SLOTS = ("0", "1")


@dataclass(frozen=True)
class Board:
    """Cells; `num_apples` are there at any time, as long as there is room."""

    width: int = 10
    height: int = 10
    num_apples: int = 5
    max_rounds: int = 100
    move_s: float = 60.0
    """Seconds that both players have for a move."""

    def __post_init__(self) -> None:
        if self.max_rounds < 1 or not self.move_s > 0:
            raise ValueError(
                f"{self.max_rounds} rounds of {self.move_s:g} s; expected at least one round and some time"
            )
        if self.width * self.height < len(SLOTS) + self.num_apples or min(self.width, self.height) < 2:
            raise ValueError(
                f"{self.width} x {self.height} cells are too few for two snakes and {self.num_apples} apples"
            )


@dataclass(frozen=True)
class PlayedRound:
    """`after` is the position after the round; `at` is when it ended [s, Unix]."""

    choices: Mapping[str, Choice]
    after: Position
    deaths: Mapping[str, str]
    at: float


@dataclass
class Played:
    """A whole game."""

    board: Board
    start: Position
    started_at: float
    rounds: list[PlayedRound] = field(default_factory=list)

    @property
    def position(self) -> Position:
        return self.rounds[-1].after if self.rounds else self.start


def play(
    players: Mapping[str, Player],
    board: Board,
    seed: int,
    clock: Callable[[], float],
    watch: Callable[[Played], None] = lambda game: None,
) -> Played:
    """A game until its end. `players`: of slots 0 and 1. `clock`: seconds since 1970. `watch` is called at the start
    and after every round."""
    random = Random(seed)
    game = Played(board, _start(board, random), clock())
    watch(game)
    with ThreadPoolExecutor(len(SLOTS)) as pool:
        while not has_ended(game.position, len(game.rounds), board.max_rounds):
            choices = _ask(pool, players, game, random)
            done = play_round(game.position, {slot: choice.move for slot, choice in choices.items()})
            after = done.position if done.deaths else with_apples(done.position, board.num_apples, random)
            game.rounds.append(PlayedRound(choices, after, done.deaths, clock()))
            watch(game)
    return game


def with_apples(position: Position, wanted: int, random: Random) -> Position:
    """The same with random free cells made apples until there are as many as wanted."""
    free = [cell for cell in _cells(position) if position.is_free(cell)]
    new = random.sample(free, min(max(0, wanted - len(position.apples)), len(free)))
    apples = (*position.apples, *new)
    return Position(position.width, position.height, position.snakes, apples, position.scores, position.dead)


def _start(board: Board, random: Random) -> Position:
    empty = Position(board.width, board.height, {}, (), dict.fromkeys(SLOTS, 0))
    places = random.sample(_cells(empty), len(SLOTS))
    snakes = {slot: (place,) for slot, place in zip(SLOTS, places, strict=True)}
    return with_apples(Position(board.width, board.height, snakes, (), empty.scores), board.num_apples, random)


def _cells(position: Position) -> list[Cell]:
    return [(x, y) for x in range(position.width) for y in range(position.height)]


def _ask(pool: Executor, players: Mapping[str, Player], game: Played, random: Random) -> dict[str, Choice]:
    """Both at once, within the same time. The moves of failed providers are drawn."""
    number, until = len(game.rounds), monotonic() + game.board.move_s
    asked = {slot: pool.submit(players[slot].choose, game.position, slot, number) for slot in SLOTS}
    return {slot: _answer(future, until, random) for slot, future in asked.items()}


def _answer(future: Future[Choice], until: float, random: Random) -> Choice:
    drawn = random.choice(list(STEPS))  # in every round, so that what a provider does moves no apple
    try:
        choice = future.result(timeout=max(0.0, until - monotonic()))
    except ProviderFailed as error:
        return Choice(drawn, f"Provider error: {error}")
    except TimeoutError:
        return Choice(drawn, "Provider error: no move in time")
    if choice.move == NONE:
        return replace(
            choice, move=drawn, rationale=f"{choice.rationale}\n\n(No direction: {drawn} was drawn.)".strip()
        )
    if choice.move not in STEPS:
        return Choice(drawn, f"Provider error: {choice.move!r:.60} is no move")
    return choice
