"""The rules of a round, whole games, and files that simulate to themselves."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from threading import Event

import pytest
from django.core.management import CommandError, call_command

from tests.wormarena.files import changed, game, with_states_before
from wormarena.danger import near_collisions
from wormarena.engine.game import Board, play
from wormarena.engine.players import REFERENCE_PLAYERS, Choice, ProviderFailed
from wormarena.engine.resimulation import check
from wormarena.engine.rules import Body, Cell, Position, has_ended, play_round, result_of
from wormarena.engine.writing import document_of
from wormarena.game_file import facts_of
from wormarena.ingestion.demo import FOLDER


def position(a: Body, b: Body, apples: tuple[Cell, ...] = (), scores: tuple[int, int] = (0, 0)) -> Position:
    return Position(6, 6, {"0": a, "1": b}, apples, {"0": scores[0], "1": scores[1]})


def deaths(before: Position, a: str, b: str) -> dict[str, str]:
    return dict(play_round(before, {"0": a, "1": b}).deaths)


def test_up_is_one_more_in_y_and_the_tail_follows() -> None:
    after = play_round(position(((1, 1), (1, 0)), ((4, 4),)), {"0": "UP", "1": "LEFT"}).position
    assert after.snakes == {"0": ((1, 2), (1, 1)), "1": ((3, 4),)}


def test_eating_grows_by_one_and_scores_one() -> None:
    done = play_round(position(((1, 1),), ((4, 4),), ((1, 2), (5, 5))), {"0": "UP", "1": "LEFT"})
    assert done.position.snakes["0"] == ((1, 2), (1, 1))
    assert (done.position.scores["0"], done.position.apples, done.eaten) == (1, ((5, 5),), ((1, 2),))


def test_each_cause_of_death() -> None:
    assert deaths(position(((0, 0),), ((4, 4),)), "DOWN", "UP") == {"0": "wall"}
    assert deaths(position(((1, 1),), ((3, 1),)), "RIGHT", "LEFT") == {"0": "head_collision", "1": "head_collision"}
    assert deaths(position(((1, 1),), ((2, 3), (2, 2), (2, 1), (2, 0))), "RIGHT", "UP") == {"0": "body_collision"}


def test_the_own_body_kills_too() -> None:
    curled = ((2, 2), (2, 3), (3, 3), (3, 2), (3, 1))
    assert deaths(position(curled, ((5, 5),)), "RIGHT", "LEFT") == {"0": "body_collision"}


def test_a_tail_that_moves_away_is_free_and_one_that_stays_is_not() -> None:
    follow = position(((1, 1),), ((2, 3), (2, 2), (2, 1)))
    assert deaths(follow, "RIGHT", "UP") == {}
    grows = position(((1, 1),), ((2, 3), (2, 2), (2, 1)), ((2, 4),))
    assert deaths(grows, "RIGHT", "UP") == {"0": "body_collision"}


def test_who_dies_at_a_wall_is_in_nobodys_way() -> None:
    assert deaths(position(((1, 4),), ((2, 5), (2, 4), (2, 3))), "RIGHT", "UP") == {"1": "wall"}


def test_in_a_round_with_a_death_nobody_moves_and_nobody_scores() -> None:
    before = position(((0, 0),), ((4, 4),), ((4, 5),))
    after = play_round(before, {"0": "DOWN", "1": "UP"}).position
    assert (after.snakes, after.apples, after.scores) == (before.snakes, before.apples, before.scores)


def test_the_survivor_wins_whatever_the_scores_and_two_dead_compare_them() -> None:
    one_dead = play_round(position(((0, 0),), ((4, 4),), scores=(9, 0)), {"0": "DOWN", "1": "UP"}).position
    assert result_of(one_dead) == {"0": "lost", "1": "won"}
    both_dead = play_round(position(((0, 0),), ((5, 5),), scores=(9, 0)), {"0": "DOWN", "1": "UP"}).position
    assert result_of(both_dead) == {"0": "won", "1": "lost"}
    even = play_round(position(((0, 0),), ((5, 5),), scores=(3, 3)), {"0": "DOWN", "1": "UP"}).position
    assert result_of(even) == {"0": "tied", "1": "tied"}


def test_a_game_ends_at_thirty_apples_and_after_its_rounds() -> None:
    assert has_ended(position(((1, 1),), ((4, 4),), scores=(30, 2)), 5, 100)
    assert has_ended(position(((1, 1),), ((4, 4),)), 100, 100)
    assert not has_ended(position(((1, 1),), ((4, 4),), scores=(29, 2)), 99, 100)


def played(a: str, b: str, seed: int, board: Board | None = None) -> dict[str, object]:
    players = {"0": REFERENCE_PLAYERS[a](seed), "1": REFERENCE_PLAYERS[b](seed + 1)}
    ticks = itertools.count(1_700_000_000)
    return document_of(play(players, board or Board(), seed, lambda: float(next(ticks))), players, f"id-{seed}", "test")


@pytest.mark.parametrize("seed", range(12))
def test_every_game_that_is_played_simulates_to_itself(seed: int) -> None:
    names = [("random", "greedy"), ("greedy", "greedy"), ("random", "random")][seed % 3]
    document = json.loads(json.dumps(played(*names, seed, Board(7, 5, 3, 60))))
    assert check(facts_of(document)) == ("same", "")


def test_the_same_seed_plays_the_same_game() -> None:
    assert played("random", "greedy", 5) == played("random", "greedy", 5)
    assert played("random", "greedy", 5) != played("random", "greedy", 6)


def test_a_game_that_was_changed_does_not_simulate_to_itself() -> None:
    document = json.loads(json.dumps(played("greedy", "random", 3)))
    assert check(facts_of(changed(document, "players.0.final_score", 29))).verdict == "differs"
    other = {"UP": "DOWN", "DOWN": "UP", "LEFT": "RIGHT", "RIGHT": "LEFT"}[document["frames"][0]["moves"]["0"]["move"]]
    assert check(facts_of(changed(document, "frames.0.moves.0.move", other))).verdict == "differs"
    assert check(facts_of(changed(document, "frames.0.state", None))).verdict == "cannot"


@pytest.mark.parametrize("seed", range(3))
def test_files_with_the_states_before_their_rounds_simulate_too(seed: int) -> None:
    document = json.loads(json.dumps(played("greedy", "random", seed, Board(7, 5, 3, 60))))
    early, now = facts_of(with_states_before(document)), facts_of(document)
    assert check(early) == ("same", "")
    assert (early.moves, early.frames) == (now.moves, now.frames)
    assert near_collisions(early) == near_collisions(now)


def test_a_death_in_round_0_is_no_state_before_it() -> None:
    document = game()
    dead = {**document["initial_state"], "alive": {"0": True, "1": False}}
    document["frames"] = [{**document["frames"][0], "state": dead}]
    assert len(facts_of(document).moves) == 2


def test_the_demonstration_simulates_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("check_games", str(FOLDER))
    assert "27 of 27 games" in capsys.readouterr().out


class Failing:
    """A player whose provider fails, says nonsense, or never answers."""

    name = model_id = "failing"

    def __init__(self, how: str) -> None:
        self.how, self.never = how, Event()

    def choose(self, position: Position, slot: str, number: int) -> Choice:
        if self.how == "fails":
            raise ProviderFailed("503")
        if self.how == "is late":
            self.never.wait(0.3)
        return Choice("SIDEWAYS")


@pytest.mark.parametrize(
    ("how", "told"), [("fails", "503"), ("is late", "no move in time"), ("errs", "'SIDEWAYS' is no move")]
)
def test_a_provider_that_fails_gets_a_random_move_and_the_reason_is_kept(how: str, told: str) -> None:
    players = {"0": Failing(how), "1": REFERENCE_PLAYERS["greedy"](1)}
    game = play(players, Board(max_rounds=1, move_s=0.05), 1, lambda: 0.0)
    assert game.rounds[0].choices["0"].rationale == f"Provider error: {told}"


def test_the_command_plays_games_in_turns_and_checks_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("play_snake", "random", "greedy", "--games", "2", "--seed", "4", "--folder", str(tmp_path), "--json")
    files = [Path(path) for path in json.loads(capsys.readouterr().out)["files"]]
    names = [json.loads(path.read_text())["players"]["0"]["name"] for path in files]
    assert names == ["random (reference player)", "greedy (reference player)"]
    call_command("check_games", str(tmp_path), "--json")
    assert json.loads(capsys.readouterr().out) == {"checked": 2, "same": 2, "others": []}
    files[0].write_text("{}")
    with pytest.raises(CommandError):
        call_command("check_games", str(tmp_path))


def test_a_board_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        Board(2, 2, 5)
