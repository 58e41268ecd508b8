"""Preference pairs: what was preferred to what, after which words, from which state; and nothing that is not public."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pyarrow import parquet

from arena import kinds
from arena.actions.owners import REMOVED
from arena.models import Attempt, Battle, Turn, Vote
from arena.store import get_store
from exports.parquet_pairs import SCHEMA
from exports.preferences import Row, pairs
from rankings.models import CountedVote
from rankings.publication import aggregation
from tests.exports.conftest import PLACE, Fight


def rows() -> list[Row]:
    return list(pairs(kinds.get("robots")))


@pytest.fixture
def two(fight: Fight) -> list[Battle]:
    """The expert is preferred once, and the one that holds still once."""
    battles = [fight(seed=7), fight(PLACE, "right_better", "bert", 8), fight(PLACE, "tie", "bert", 8)]
    aggregation.aggregate()
    return battles


def test_a_row_says_what_was_preferred_and_where_both_began(two: list[Battle]) -> None:
    first, second = rows()
    attempts = {attempt.side: attempt for attempt in two[0].turns.get().attempts.all()}
    document = get_store().get(attempts["left"].episode_id)
    assert document is not None
    assert (first["chosen"]["model_id"], first["rejected"]["model_id"]) == ("expert", "still")
    assert (second["chosen"]["model_id"], second["rejected"]["model_id"]) == ("still", "expert")
    assert first["chosen"]["episode_id"] == attempts["left"].episode_id
    assert (first["instruction"], first["task_id"]) == ("stack the red cube on the yellow cube", "stack")
    assert first["start_qpos"] == document["states"][0]["qpos"]
    assert first["start_qvel"] == document["states"][0]["qvel"]
    assert first["start_hash"] == document["start_hash"]
    assert first["same_start"]
    assert (first["turn"], first["turns"]) == (1, 1)


def test_no_row_names_a_voter_a_session_or_a_time(two: list[Battle]) -> None:
    told = json.dumps(rows())
    for private in ("anna", "bert", *Vote.objects.values_list("session_id", flat=True), "created_at", "voter"):
        assert private not in told


def test_reasons_are_told_of_the_chosen_and_the_rejected(two: list[Battle]) -> None:
    Vote.objects.filter(battle=two[1]).update(reasons={"speed": "left", "safety": "right", "precision": "equal"})
    reasons = {each["respect"]: each["better"] for each in rows()[1]["reasons"]}
    assert reasons == {"speed": "rejected", "safety": "chosen", "precision": "equal"}


def test_both_forms_hold_the_same_rows(two: list[Battle], tmp_path: Path) -> None:
    for name in ("pairs.jsonl", "pairs.parquet"):
        call_command("export_preferences", str(tmp_path / name), stdout=StringIO())
    written = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    table = parquet.read_table(tmp_path / "pairs.parquet")
    assert table.schema.equals(SCHEMA)
    assert table.to_pylist() == [{name: row[name] for name in SCHEMA.names} for row in written]
    with pytest.raises(CommandError, match=r"expected \.jsonl or \.parquet"):
        call_command("export_preferences", str(tmp_path / "pairs.csv"))


def hide(battle: Battle) -> None:
    Battle.objects.filter(pk=battle.pk).update(hidden_at=timezone.now())


def spoil(battle: Battle) -> None:
    Battle.objects.filter(pk=battle.pk).update(spoiled=True)


def hide_words(battle: Battle) -> None:
    Turn.objects.filter(battle=battle).update(instruction_hidden_at=timezone.now())


def remove_words(battle: Battle) -> None:
    Turn.objects.filter(battle=battle).update(instruction=REMOVED)


def exclude(battle: Battle) -> None:
    CountedVote.objects.filter(vote__battle=battle).update(counted=False, excluded=True)


def calibrate(battle: Battle) -> None:
    Vote.objects.filter(battle=battle).update(purpose="repeat")


def fail(battle: Battle) -> None:
    Attempt.objects.filter(turn__battle=battle, side="left").update(status="failed")


def lose(battle: Battle) -> None:
    get_store().delete(list(Attempt.objects.filter(turn__battle=battle).values_list("episode_id", flat=True)))


@pytest.mark.parametrize("withhold", [hide, spoil, hide_words, remove_words, exclude, calibrate, fail, lose])
def test_what_is_hidden_removed_excluded_or_gone_is_left_out(two: list[Battle], withhold: Any) -> None:
    withhold(two[0])
    assert [row["battle_id"] for row in rows()] == [two[1].battle_id]


def test_forks_and_battles_without_a_published_vote_are_no_pairs(two: list[Battle], fight: Fight) -> None:
    fight(voter="carl", seed=7)
    fork = Turn.objects.filter(battle=two[0]).get()
    fork.pk, fork.turn_id, fork.seq, fork.is_fork, fork.fork_seed = None, "turn_fork", 2, True, 3
    fork.save()
    assert len(rows()) == 2
