"""A synthetic arena agrees with itself, says that it is synthetic, and never stands beside real visitors."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arena.models import Attempt, Battle, Session, Vote
from arena.store import get_store
from policies.models import Policy
from rankings.api import selectors
from rankings.models import Snapshot
from rankings.publication import checking
from simulation.episode_format import state_at, to_float32
from tests.factories import SessionFactory

VOTES, EPISODES = 700, 60


@pytest.mark.django_db(transaction=True)
def test_a_synthetic_arena_is_whole_and_an_inhabited_one_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    get_store().delete(list(get_store().ids()))  # of the tests before
    call_command("seed_load", "--votes", str(VOTES), "--episodes", str(EPISODES))
    assert "boards published" in capsys.readouterr().out
    assert (Vote.objects.count(), Battle.objects.count(), Attempt.objects.count()) == (VOTES, VOTES, EPISODES)
    assert checking.differences() == []
    assert Snapshot.objects.get().boards["global"]["votes"] == VOTES
    assert {policy.provenance for policy in Policy.objects.all()} == {"Synthetic data for measuring"}
    assert not Session.objects.exclude(user_id__startswith="synthetic-").exists()

    newest = Vote.objects.latest("voted_at")
    sides = {rollout.side: rollout for rollout in Attempt.objects.filter(turn__battle=newest.battle_id)}
    for rollout in sides.values():
        document = get_store().get(rollout.episode_id)
        assert document is not None
        assert (document["model_id"], document["battle_id"]) == (rollout.model_id, newest.battle_id)
        assert (
            state_at(document, 0).hash(document["engine_version"], document["scene_hash"]) == rollout.rollout.start_hash
        )
        states = Client().get(f"/api/episodes/{rollout.episode_id}/states.bin")
        assert states.content == to_float32(document)
    assert sides["left"].rollout.start_hash == sides["right"].rollout.start_hash
    assert selectors.leaderboard(selectors.LeaderboardQuery())["metadata"]["total_votes"] == VOTES

    fresh = SessionFactory()  # keys go on after those of the synthetic rows
    assert fresh.pk > Session.objects.exclude(pk=fresh.pk).latest("pk").pk
    with pytest.raises(CommandError, match="this arena has sessions"):
        call_command("seed_load", "--votes", "10", "--episodes", "0")


@pytest.mark.django_db
@pytest.mark.parametrize("wish", [("0", "0"), ("10", "21"), ("10", "-2")])
def test_numbers_that_make_no_arena_are_refused(wish: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="expected at least one vote"):
        call_command("seed_load", "--votes", wish[0], "--episodes", wish[1])
    assert not Policy.objects.exists()
