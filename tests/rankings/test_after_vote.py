"""What a voter is told about the pair: its published votes without the one just cast, from the battle's sides."""

from __future__ import annotations

import pytest
from django.test import Client

from arena.models import BattleStatus, Vote
from rankings.api.after_vote import effect_of
from rankings.publication import aggregation
from rankings.votes.ledger import exclude_votes, take_vote
from tests.factories import BattleFactory, PolicyFactory, VoteFactory

pytestmark = pytest.mark.django_db


def cast(left: object, right: object, choice: str) -> Vote:
    battle = BattleFactory(left_model=left, right_model=right, status=BattleStatus.VOTED)
    vote: Vote = VoteFactory(battle=battle, vote=choice)
    take_vote(sender=Vote, vote=vote)
    return vote


NOTHING = {"votes": 0, "left_better": 0, "right_better": 0, "tie": 0, "both_bad": 0}


def test_published_votes_on_the_pair_are_told_from_this_battles_sides_without_this_vote() -> None:
    alpha, beta, gamma = PolicyFactory.create_batch(3)
    cast(alpha, beta, "left_better")
    cast(beta, alpha, "left_better")
    cast(beta, alpha, "tie")
    cast(alpha, gamma, "both_bad")
    published = cast(alpha, beta, "left_better")
    aggregation.aggregate()
    cast(beta, alpha, "both_bad")
    published.refresh_from_db()
    before = {"votes": 3, "left_better": 1, "right_better": 1, "tie": 1, "both_bad": 0}
    assert effect_of(published)["pair"] == before
    assert effect_of(published)["model_votes"] == {"left": 4, "right": 3}


def test_nothing_is_told_of_votes_since_the_last_publication() -> None:
    alpha, beta = PolicyFactory.create_batch(2)
    first = cast(alpha, beta, "tie")
    assert effect_of(first) == {"pair": NOTHING, "model_votes": {"left": 0, "right": 0}}
    aggregation.aggregate()
    told = effect_of(cast(alpha, beta, "tie"))
    cast(beta, alpha, "left_better")
    assert effect_of(Vote.objects.latest("pk"))["pair"]["votes"] == told["pair"]["votes"] == 1


def test_a_vote_excluded_before_the_publication_is_not_subtracted_twice() -> None:
    alpha, beta = PolicyFactory.create_batch(2)
    cast(alpha, beta, "tie")
    vote = cast(alpha, beta, "tie")
    exclude_votes([vote.pk])
    aggregation.aggregate()
    vote.refresh_from_db()
    assert effect_of(vote)["pair"]["votes"] == 1


def test_a_battle_without_a_vote_has_no_effect_to_tell(client: Client) -> None:
    battle = BattleFactory()
    assert client.get(f"/api/battles/{battle.battle_id}/effect").status_code == 404
    assert client.get("/api/battles/nonsense/effect").status_code == 404
