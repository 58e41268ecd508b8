"""From files to rows: as written, once, in whatever order they come."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.wormarena.files import changed, game, put, with_results, without, written
from vlaarena.celery import app
from wormarena import aggregates
from wormarena.ingestion import watching
from wormarena.ingestion.ledger import ingest, rebuild
from wormarena.ingestion.watching import Watch
from wormarena.models import Decision, Game, LedgerState, Matchup, ModelAggregate, Participant

pytestmark = pytest.mark.django_db
IGNORED = {"id", "ingested_at"}
WALL = {"reason": "wall", "round": 3}


def everything() -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables but for numbers of rows and times of reading, sorted."""
    tables = (Game, Participant, Decision, ModelAggregate, Matchup)
    rows = {table.__name__: [_plain(row) for row in table.objects.values()] for table in tables}
    return {name: sorted(found, key=repr) for name, found in rows.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in IGNORED}


def model(name: str) -> ModelAggregate:
    return ModelAggregate.objects.get(pk=name)


def season() -> list[dict[str, Any]]:
    """Games of three models, some of them at the same time and some without one."""
    found = []
    for number in range(14):
        a, b = random.Random(number).sample(["alpha", "beta", "gamma: x:free"], 2)
        document = game(f"s-{number}", a, b, started_at=f"2026-01-{1 + number % 5:02d}T00:00:00")
        document = changed(document, "players.0.totals.cost", 0.1 * number)
        found.append(with_results(document, *random.Random(number).choice([("won", "lost"), ("tied", "tied")])))
    return [*found, game("s-timeless", started_at=None, ended_at=None)]


def test_a_game_becomes_its_rows(tmp_path: Path) -> None:
    ingest(put(tmp_path, game()))
    row, (first, second) = Game.objects.get(), Participant.objects.order_by("player_slot")
    assert (row.model_a_name, row.model_b_name, row.total_score, row.total_cost) == ("alpha", "beta", 0, 0.5)
    assert row.replay_path == str(tmp_path / "snake_game_g-1.json")
    assert (first.result, first.death_reason, first.death_round) == ("won", None, None)
    assert (second.result, second.death_reason, second.death_round) == ("lost", "wall", 1)
    moves = Decision.objects.order_by("round", "player_slot").values_list("move", "is_provider_error_fallback")
    assert list(moves) == [("UP", False), ("RIGHT", False), ("UP", True), ("RIGHT", False)]


def test_the_sums_of_a_model_are_those_of_its_games(tmp_path: Path) -> None:
    lost = changed(with_results(game("g-2", "beta", "alpha"), "tied", "tied"), "players.1.final_score", 6)
    ingest(put(tmp_path, game(), lost))
    found = model("alpha")
    assert (found.games_played, found.wins, found.losses, found.ties) == (2, 1, 0, 1)
    assert (found.apples_eaten_total, found.win_rate, found.avg_score) == (6, 0.5, 3.0)
    assert (found.total_cost, found.avg_cost_per_game, found.avg_cost_per_point) == (0.5, 0.25, pytest.approx(0.5 / 6))
    assert (found.total_input_tokens, found.total_output_tokens) == (200, 100)
    assert (found.death_wall, model("beta").death_wall) == (1, 1)


def test_a_winner_that_died_has_won_and_died(tmp_path: Path) -> None:
    ingest(put(tmp_path, changed(game(), "players.0.death", WALL)))
    assert (model("alpha").wins, model("alpha").death_wall) == (1, 1)


def test_a_loser_that_lives_has_lost_and_has_not_died(tmp_path: Path) -> None:
    ingest(put(tmp_path, changed(game(), "players.1.death", None)))
    found = model("beta")
    assert (found.losses, found.death_wall, found.death_other) == (1, 0, 0)


@pytest.mark.parametrize("death", [WALL, None])
def test_both_tied_whether_dead_or_alive(tmp_path: Path, death: dict[str, Any] | None) -> None:
    document = changed(changed(game(), "players.0.death", death), "players.1.death", death)
    ingest(put(tmp_path, with_results(document, "tied", "tied")))
    assert [model(name).ties for name in ("alpha", "beta")] == [1, 1]


def test_a_death_of_another_cause_is_counted_as_other(tmp_path: Path) -> None:
    ingest(put(tmp_path, changed(game(), "players.1.death", {"reason": "starvation", "round": 9})))
    found = model("beta")
    assert (found.death_other, found.death_wall) == (1, 0)


def test_a_model_against_itself_counts_for_both_slots_and_moves_no_strength(tmp_path: Path) -> None:
    ingest(put(tmp_path, game("self", "alpha", "alpha")))
    found = model("alpha")
    assert (found.games_played, found.wins, found.losses, found.strength) == (2, 1, 1, None)
    assert Matchup.objects.get().games == 2


def test_what_a_file_lacks_is_null_and_not_nothing(tmp_path: Path) -> None:
    bare = without(game(max_rounds=None, board={"width": 10, "height": 10}), "metadata", "totals")
    ingest(put(tmp_path, bare))
    row = Game.objects.get()
    assert (row.num_apples, row.max_rounds, row.total_cost, row.total_input_tokens) == (None,) * 4


def test_the_same_files_twice_change_nothing(tmp_path: Path) -> None:
    files = put(tmp_path, *season())
    ingest(files)
    before, version = everything(), LedgerState.load().version
    report = ingest(files)
    assert (report.new, report.known, report.refused) == (0, 15, {})
    assert (everything(), LedgerState.load().version) == (before, version)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_order_of_the_files_gives_the_same_rows(tmp_path: Path, seed: int) -> None:
    files = put(tmp_path, *season())
    ingest(files)
    expected = everything()
    Game.objects.all().delete()
    rebuild([])
    random.Random(seed).shuffle(files)
    for start in range(0, len(files), 4):
        ingest(files[start : start + 4])
    assert everything() == expected


def test_a_rebuild_gives_the_same_rows_and_takes_in_what_is_missing(tmp_path: Path) -> None:
    files = put(tmp_path, *season())
    ingest(files)
    expected = everything()
    Game.objects.filter(pk="s-3").delete()
    ModelAggregate.objects.update(wins=99, rating_mu=0.0)
    call_command("rebuild_wormarena", str(tmp_path))
    assert everything() == expected
    call_command("rebuild_wormarena", str(tmp_path), "--drop")
    assert everything() == expected


def test_sums_are_made_up_for_where_an_ingestion_was_stopped_before_them(tmp_path: Path, monkeypatch: Any) -> None:
    files = put(tmp_path, *season())
    with monkeypatch.context() as broken:
        broken.setattr("wormarena.ingestion.ledger.settle", lambda report: None)
        ingest(files[:5])
    ingest(files[5:])
    interrupted = everything()
    rebuild([])
    assert interrupted == everything()


def test_another_file_with_a_known_id_is_refused_and_leaves_no_row(tmp_path: Path) -> None:
    ingest(put(tmp_path, game()))
    before = everything()
    (other := tmp_path / "other").mkdir()
    files = put(other, changed(game(), "players.0.final_score", 9), game("g-2"))
    report = ingest(files[:1])
    assert list(report.refused) == [str(files[0])]
    assert report.refused[str(files[0])].startswith("game.id: ")
    assert everything() == before


def test_the_command_goes_on_after_bad_files_and_lists_them(tmp_path: Path, capsys: Any) -> None:
    put(tmp_path, game("g-1"), changed(game("g-2"), "players.0.result", "drawn"), game("g-3"))
    written(tmp_path, "g-0", json.dumps(game("g-0"))[:-9])
    with pytest.raises(CommandError, match="2 of 4"):
        call_command("ingest_games", str(tmp_path))
    told = capsys.readouterr().err
    assert "snake_game_g-2.json: players.0.result: 'drawn'" in told
    assert "snake_game_g-0.json: not JSON" in told
    assert set(Game.objects.values_list("game_id", flat=True)) == {"g-1", "g-3"}


def test_a_folder_that_is_watched_takes_in_what_appears_and_what_was_half_written(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    put(tmp_path, game("g-1"))
    half = written(tmp_path, "g-2", json.dumps(game("g-2"))[:-9])
    first = watch.look()
    assert (first.new, list(first.refused)) == (1, [str(half)])
    assert watch.look().seen == 0
    put(tmp_path, game("g-2"))
    assert watch.look().new == 1


def test_who_begins_to_watch_reads_nothing_twice(tmp_path: Path) -> None:
    ingest(put(tmp_path, game("g-1")))
    assert Watch(tmp_path).look().seen == 0


def test_a_worker_looks_at_the_watched_folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "WATCHES", {})
    settings.WORMARENA_FOLDER, settings.DATA_DIR = tmp_path, tmp_path / "data"
    put(tmp_path, game("g-1"))
    app.autodiscover_tasks(force=True)  # as a worker does
    app.tasks[settings.BEAT_TASKS["Look for games of Snake"]["task"]]()
    assert Game.objects.get().pk == "g-1"


def test_the_cost_near_collisions_is_told_apart(tmp_path: Path) -> None:
    ingest(put(tmp_path, game()))
    sums: aggregates.DecisionSums = model("beta").decision_sums
    assert (sums["moves"], sums["moves_near_collision"]) == (2, 1)  # the one that killed
    assert (sums["picodollars"], sums["picodollars_near_collision"]) == (2 * 10**9, 10**9)
    assert model("alpha").decision_sums["provider_errors"] == 1
