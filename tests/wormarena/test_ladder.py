"""The running ladder: the pair that has met least plays next, and its game counts at once."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.wormarena.files import game, put
from vlaarena.supervisor import plan
from wormarena.ingestion.ledger import ingest
from wormarena.ladder import next_pair
from wormarena.models import Game, Matchup

pytestmark = pytest.mark.django_db
PLAYERS = {"a": "alpha", "b": "beta", "c": "gamma"}


def test_the_pair_with_the_fewest_games_plays(tmp_path: Path) -> None:
    ingest(put(tmp_path, game("g-1"), game("g-2"), game("g-3", "beta", "gamma"), game("g-4", "gamma", "beta")))
    assert {frozenset(next_pair(PLAYERS, Random(seed))) for seed in range(9)} == {frozenset("ac")}


def test_games_of_a_player_against_itself_are_no_encounter(tmp_path: Path) -> None:
    ingest(put(tmp_path, game("g-1", "alpha", "alpha"), game("g-2", "beta", "gamma")))
    assert "a" in next_pair(PLAYERS, Random(1))


def test_slots_are_taken_by_chance() -> None:
    assert {next_pair({"a": "alpha", "b": "beta"}, Random(seed)) for seed in range(9)} == {("a", "b"), ("b", "a")}


def test_a_ladder_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="two players"):
        next_pair({"a": "alpha"}, Random(1))


def test_the_command_plays_and_counts_its_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--games", "2", "--rounds", "4", "--seed", "5", "--players", "random", "greedy"]
    call_command("snake_ladder", "--folder", str(tmp_path), *options)
    assert Game.objects.filter(game_type="ladder").count() == 2
    assert Matchup.objects.filter(games=2).count() == 2
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_an_unknown_player_is_refused_before_a_game(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nobody: no such player; known are greedy, random"):
        call_command("snake_ladder", "--folder", str(tmp_path), "--players", "random", "nobody")
    assert not Game.objects.exists()


@pytest.mark.parametrize("wanted", [True, False])
def test_an_arena_runs_the_ladder_only_if_asked_to(settings: Any, wanted: bool) -> None:
    settings.WORMARENA_LADDER = wanted
    parts = plan.parts(queues=["default"], worker_processes=2, host="127.0.0.1", port=8000)
    assert [spec.niceness for spec in parts if spec.name == "ladder"] == [19] * wanted
