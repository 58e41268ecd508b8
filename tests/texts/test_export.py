"""Battles as files for others, and a visitor's own: complete, without what is flagged, gone once forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pyarrow import parquet

from arena.actions.owners import REMOVED
from arena.models import Attempt, Battle, Turn
from arena.store import get_store
from people import own_data
from people.own_data import Owner
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import QUICK

Houses = Callable[[str, str], House]


@pytest.fixture
def two(house: Houses) -> House:
    return house("quick", "without-usage")


@pytest.fixture
def voted(two: House, visitor: Visitor) -> str:
    return play(two, visitor, "Why is it so, Ada?")


def play(houses: House, visitor: Visitor, prompt: str) -> str:
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, prompt))
    cast = visitor.post("votes", {"battle_id": battle_id, "vote": "left_better", "reasons": {"clear": "left"}})
    assert cast.status_code == 201, cast.content
    return battle_id


def exported(folder: Path) -> list[dict[str, Any]]:
    call_command("export_texts", str(folder / "battles.jsonl"), verbosity=0)
    return [json.loads(line) for line in (folder / "battles.jsonl").read_text(encoding="utf-8").splitlines()]


def owner_of(battle_id: str) -> Owner:
    return Owner(Battle.objects.get(battle_id=battle_id).session.user_id or "")


def test_a_voted_battle_is_one_row_and_alike_in_both_formats(voted: str, tmp_path: Path) -> None:
    [row] = exported(tmp_path)
    texts = {"prompt": "Why is it so, Ada?", "left": f"{QUICK} ", "right": "one two three"}
    turn = {**texts, "start": "continue", "again": False, "left_tokens": 11, "right_tokens": 3}
    turn |= {"left_liked": False, "right_liked": False}
    told = {"left": "the-quick", "right": "the-without-usage", "vote": "left_better", "reasons": ["clear: left"]}
    about = {"battle_id": "b1", "voter_id": "v1", "day": timezone.now().date().isoformat(), "counted": True}
    assert row == {**about, **told, "turns": [turn]}
    call_command("export_texts", str(tmp_path / "battles.parquet"))
    assert parquet.read_table(tmp_path / "battles.parquet").to_pylist() == [row]


def test_a_vote_that_does_not_count_says_so(voted: str, two: House, visitor: Visitor, tmp_path: Path) -> None:
    battle_id = two.open(visitor)
    two.play(visitor.send(battle_id, "And now?"))
    Battle.objects.filter(battle_id=battle_id).update(spoiled=True)
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert [(row["voter_id"], row["counted"]) for row in exported(tmp_path)] == [("v1", True), ("v1", False)]


@pytest.mark.parametrize("flag", ["hidden", "instruction", "moderated", "word", "expired"])
def test_flagged_battles_are_left_out(flag: str, voted: str, tmp_path: Path, settings: Any) -> None:
    attempt = Attempt.objects.filter(turn__battle_id=voted, side="left")
    if flag == "hidden":
        Battle.objects.filter(battle_id=voted).update(hidden_at=timezone.now())
    elif flag == "instruction":
        Turn.objects.filter(battle_id=voted).update(instruction_hidden_at=timezone.now())
    elif flag == "moderated":
        attempt.update(status="failed", termination_reason="moderated")
    elif flag == "word":
        (tmp_path / "words").write_text("ada\n")
        settings.TEXT = {**settings.TEXT, "forbidden_words": str(tmp_path / "words")}
    else:
        get_store().delete([attempt.get().episode_id])
    assert exported(tmp_path) == []


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"expected \.jsonl or \.parquet"):
        call_command("export_texts", str(tmp_path / "battles.csv"))


def test_a_visitors_own_copy_has_the_answers_without_names_before_the_vote(two: House, visitor: Visitor) -> None:
    battle_id = two.open(visitor)
    two.play(visitor.send(battle_id, "Why?"))
    copy = "".join(own_data.export(owner_of(battle_id)))
    assert [row["text"].strip() for row in json.loads(copy)["answers"]] == [QUICK, "one two three"]
    assert "the-quick" not in copy


def test_forgetting_removes_prompts_and_answers_and_keeps_the_vote(voted: str, tmp_path: Path) -> None:
    own_data.forget(owner_of(voted))
    kept = list(get_store()._episodes.find({"battle_id": voted}))
    assert [(document["instruction"], document["text"]) for document in kept] == [(REMOVED, REMOVED)] * 2
    assert Battle.objects.get(battle_id=voted).vote.vote == "left_better"
    assert exported(tmp_path) == []
