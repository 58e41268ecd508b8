"""A vote may say in which respects a side was better; what it says is stored with it."""

from __future__ import annotations

from typing import Any

import pytest

from arena.models import Vote
from tests.arena.conftest import Visitor, play_battle
from tests.fakes import FakeRuntime


def test_reasons_are_stored_with_the_vote_and_shown_with_it(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    reasons = {"closer": "left", "safer": "equal", "faster": "right"}
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie", "reasons": reasons}).status_code == 201
    vote = Vote.objects.get()
    assert vote.reasons == reasons
    assert visitor.battle(battle_id)["vote"]["reasons"] == {**reasons, "smoother": None}


@pytest.mark.parametrize("nothing", [None, {}, {"closer": None}])
def test_a_vote_needs_no_reason(visitor: Visitor, runtime: FakeRuntime, nothing: Any) -> None:
    battle_id = play_battle(visitor)
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie", "reasons": nothing}).status_code == 201
    assert set(visitor.battle(battle_id)["vote"]["reasons"].values()) == {None}


@pytest.mark.parametrize(
    "wrong", [{"nicer": "left"}, {"closer": "both"}, {"closer": ["left"]}, {"closer": {}}, ["closer"], "closer", 1]
)
def test_other_reasons_are_refused_by_name_and_the_vote_is_not_lost(
    visitor: Visitor, runtime: FakeRuntime, wrong: Any
) -> None:
    battle_id = play_battle(visitor)
    refused = visitor.post("votes", {"battle_id": battle_id, "vote": "tie", "reasons": wrong})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_reasons")
    assert "closer" in refused.json()["detail"]
    assert visitor.battle(battle_id)["can_vote"]
