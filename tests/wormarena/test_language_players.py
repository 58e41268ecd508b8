"""Language models of the text arena play Snake: what they are told, how they are read, and how they fail."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena import chat
from arena.chat import ChatFailed, Reply
from tests.factories import TextModelFactory
from tests.texts.servers import SCRIPTS, ScriptedServer, answers, scripted_server
from wormarena.engine.game import Board, Played, play
from wormarena.engine.language_player import LanguagePlayer
from wormarena.engine.players import REFERENCE_PLAYERS
from wormarena.engine.prompt import REMEMBERED, Last, direction_in, drawn, prompt_of, shortened
from wormarena.engine.resimulation import check
from wormarena.engine.rules import STEPS, Position
from wormarena.game_file import read

START = Position(4, 3, {"0": ((1, 1), (0, 1)), "1": ((3, 2),)}, ((2, 0),), {"0": 1, "1": 0})
BOARD = Board(6, 6, 3, 2, move_s=0.5)


class Fake:
    """A model that says what it is given, in turn, and keeps what it was asked."""

    id, name = "fake", "Fake"

    def __init__(self, *said: str | ChatFailed) -> None:
        self.said, self.asked = list(said), list[str]()

    def ask(self, prompt: str, within_s: float) -> Reply:
        self.asked.append(prompt)
        said = self.said[min(len(self.asked), len(self.said)) - 1]
        if isinstance(said, ChatFailed):
            raise said
        return Reply(said, 100, 20, 0.003)


def played(model: Fake) -> Played:
    return play({"0": LanguagePlayer(model, BOARD), "1": REFERENCE_PLAYERS["random"](1)}, BOARD, 3, lambda: 0.0)


def test_the_prompt_tells_the_position_the_rules_and_the_last_move() -> None:
    told = prompt_of(START, "0", 4, Board(4, 3, 1, 50), Last("RIGHT", "Apples are near."))
    for line in (
        "Turn 5 of 50",
        "Apples at: (2, 0)",
        "Your snake (0): head (1, 1), body (0, 1), apples eaten: 1",
        "Other snake (1): head (3, 2), body none, apples eaten: 0",
        "Your last move: RIGHT",
        "What you wrote then: Apples are near.",
    ):
        assert line in told.split("\n\n")
    assert told.splitlines()[-1].endswith("UP, DOWN, LEFT or RIGHT.")
    assert "What you wrote then: nothing" in prompt_of(START, "0", 0, Board(4, 3, 1, 50), None)


def test_the_board_is_drawn_with_its_top_row_first() -> None:
    assert drawn(START, "0").splitlines() == [". . . X", "o O . .", ". . A ."]
    assert drawn(START, "1").splitlines()[1] == "x X . ."


@pytest.mark.parametrize(
    ("answer", "move"),
    [
        ("UP", "UP"),
        ("I could go LEFT.\nright", "RIGHT"),
        ("Not UP, for a wall is there: **Down**", "DOWN"),
        ("I turn leftwards", "LEFT"),
        ("I resign.", ""),
        ("", ""),
    ],
)
def test_the_last_direction_of_an_answer_is_the_move(answer: str, move: str) -> None:
    assert direction_in(answer) == move


def test_long_reasons_are_read_again_from_both_ends() -> None:
    told = shortened("a" * REMEMBERED + "the plan")
    assert len(told) < REMEMBERED + 50
    assert told.endswith("the plan")
    assert "[8 characters left out]" in told


def test_reasons_tokens_and_cost_of_a_move_are_kept_and_shown_to_the_model_again() -> None:
    model = Fake("I stay low: LEFT", "UP")
    first, *_ = played(model).rounds
    choice = first.choices["0"]
    assert (choice.move, choice.rationale) == ("LEFT", "I stay low: LEFT")
    assert (choice.input_tokens, choice.output_tokens, choice.cost) == (100, 20, 0.003)
    assert "Your last move: LEFT\n\nWhat you wrote then: I stay low: LEFT" in model.asked[1]


def test_an_answer_without_a_direction_gets_a_random_move_and_keeps_its_tokens() -> None:
    choice = played(Fake("Hello!")).rounds[0].choices["0"]
    assert choice.move in STEPS
    assert choice.rationale == f"Hello!\n\n(No direction: {choice.move} was drawn.)"
    assert (choice.output_tokens, choice.cost) == (20, 0.003)


def test_after_a_failure_the_model_learns_the_move_that_was_drawn() -> None:
    model = Fake(ChatFailed("the server failed"), "UP")
    choice = played(model).rounds[0].choices["0"]
    assert choice.rationale == "Provider error: the server failed"
    assert (choice.input_tokens, choice.output_tokens, choice.cost) == (0, 0, 0.0)
    assert f"Your last move: {choice.move}\n\nWhat you wrote then: nothing" in model.asked[1]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as running:
        yield running


@pytest.fixture
def mover(transactional_db: None, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A contestant of the text arena that always goes up."""
    monkeypatch.setitem(SCRIPTS, "mover", answers("Apples are up there. UP"))
    prices = {"prompt_price": 1.0, "answer_price": 10.0}
    return TextModelFactory(
        id="the-mover", base_url=server.url, served_name="mover", system_prompt="You win.", name="The Mover", **prices
    )


def games_in(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def test_a_contestant_plays_with_its_own_prompt_and_prices(mover: Any, server: ScriptedServer, tmp_path: Path) -> None:
    call_command("play_snake", "the-mover", "greedy", "--rounds", "3", "--folder", str(tmp_path), "--json")
    (game,) = games_in(tmp_path)
    assert (game["game"]["game_type"], game["players"]["0"]["name"], game["players"]["0"]["model_id"]) == (
        "arena", "The Mover", "the-mover")  # fmt: skip
    move = game["frames"][0]["moves"]["0"]
    assert (move["move"], move["rationale"].strip()) == ("UP", "Apples are up there. UP")
    assert (move["input_tokens"], move["output_tokens"]) == (7, 5)
    assert move["cost"] == pytest.approx((7 * 1.0 + 5 * 10.0) / 1e6)
    told = server.requests[0]["messages"]
    assert [each["role"] for each in told] == ["system", "user"]
    assert told[0]["content"] == "You win."
    assert check(read(next(tmp_path.glob("*.json")))) == ("same", "")


@pytest.mark.parametrize(
    ("script", "told"),
    [("silent", "the server did not answer in time"), ("trickles", "the server did not answer in time"),
     ("broken", "the server failed")],
)  # fmt: skip
def test_a_server_that_fails_costs_its_model_the_choice_of_a_move_and_nobody_learns_its_address(
    mover: Any, server: ScriptedServer, script: str, told: str
) -> None:
    TextModelFactory(id="bad", base_url=server.url, served_name=script)
    model = chat.every()["bad"]
    began = time.monotonic()
    with pytest.raises(ChatFailed, match=f"^{told}$"):
        model.ask("Where to?", 0.4)
    assert time.monotonic() - began < 3


def test_an_unknown_player_is_refused_with_those_that_there_are(mover: Any, tmp_path: Path) -> None:
    TextModelFactory(id="away", status="unavailable")
    for name in ("away", "nobody"):
        with pytest.raises(CommandError, match="Known: greedy, random, the-mover"):
            call_command("play_snake", "random", name, "--folder", str(tmp_path))
    assert games_in(tmp_path) == []


@pytest.mark.parametrize("bad", [["--rounds", "0"], ["--move-s", "0"], ["--width", "1"], ["--apples", "99"]])
def test_a_board_that_makes_no_sense_is_refused(bad: list[str], tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"expected|too few"):
        call_command("play_snake", "random", "greedy", "--folder", str(tmp_path), *bad)
    assert games_in(tmp_path) == []
