"""Upsets in the gallery: by the first ratings published after the vote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from arena.gallery import entering
from arena.models import Contestant, Vote, VoteChoice
from rankings.fit.ratings import LISTED
from rankings.publication import aggregation
from rankings.votes.ledger import take_vote
from tests.factories import BattleFactory, PolicyFactory, VoteFactory

pytestmark = pytest.mark.django_db


def cast(left: Contestant, right: Contestant, choice: VoteChoice) -> Vote:
    vote = VoteFactory.create(
        battle=BattleFactory.create(left_model=left, right_model=right, status="voted"), vote=choice
    )
    take_vote(sender=Vote, vote=vote)
    return vote


def upsets() -> set[str]:
    rows: list[dict[str, Any]] = json.loads(Client().get("/api/gallery?show=upset").content)["results"]
    return {row["battle_id"] for row in rows}


def test_a_win_of_the_lower_rated_is_an_upset_once_ratings_are_published() -> None:
    strong, weak = PolicyFactory.create(), PolicyFactory.create()
    for _ in range(3 * LISTED):
        cast(strong, weak, VoteChoice.LEFT_BETTER)
    surprise = cast(weak, strong, VoteChoice.LEFT_BETTER)
    cast(weak, strong, VoteChoice.TIE)
    entering.enter_missing()
    assert upsets() == set()
    aggregation.aggregate()
    assert upsets() == {surprise.battle_id}


def test_models_without_a_rank_have_no_upsets() -> None:
    vote = cast(PolicyFactory.create(), PolicyFactory.create(), VoteChoice.LEFT_BETTER)
    entering.enter_missing()
    aggregation.aggregate()
    assert upsets() == set()
    assert vote.gallery_entry.upset is None
