"""Recordings of battles without a vote expire by policy, are told to have, and those of voted battles stay."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena import actions, retention
from arena.models import Attempt, Battle, BattleStatus, Turn
from arena.retention import Expiry
from arena.store import StoreUnavailable, get_store
from tests.arena.conftest import Visitor, play, play_battle, side_of
from tests.fakes import FakeRuntime

AT_ONCE = timedelta(0)


def age(battle_id: str, days: float) -> None:
    """Let a battle look as if nobody had touched it for so long."""
    Battle.objects.filter(battle_id=battle_id).update(updated_at=timezone.now() - timedelta(days=days))


def stored(battle_id: str) -> list[bool]:
    """Whether each recording of the battle is in the store."""
    rollouts = Attempt.objects.filter(turn__battle__battle_id=battle_id).order_by("pk")
    return [get_store().get(rollout.episode_id) is not None for rollout in rollouts]


def command(*arguments: str) -> dict[str, int]:
    said = StringIO()
    call_command("expire_episodes", *arguments, "--json", stdout=said)
    return dict(json.loads(said.getvalue()))


@pytest.fixture
def old(visitor: Visitor, runtime: FakeRuntime) -> str:
    """An unvoted battle with one played turn, untouched for a hundred days."""
    battle_id = play_battle(visitor)
    age(battle_id, 100)
    return battle_id


def test_an_unvoted_battles_recordings_expire_and_are_deleted_a_day_later(visitor: Visitor, old: str) -> None:
    assert retention.expire() == Expiry(battles=1, recordings=2, deleted=0)
    assert stored(old) == [True, True]
    Attempt.objects.update(expired_at=timezone.now() - retention.GRACE)
    assert retention.expire() == Expiry(deleted=2)
    assert stored(old) == [False, False]
    assert retention.expire() == Expiry()


def test_whoever_asks_for_an_expired_recording_is_told_so(visitor: Visitor, old: str) -> None:
    episode_id = side_of(old, "left").episode_id
    assert visitor.get(f"episodes/{episode_id}").status_code == 200
    retention.expire()
    for form in ("", "/view.bin", "/states.bin", "/replay.bin"):
        gone = visitor.get(f"episodes/{episode_id}{form}")
        assert (gone.status_code, gone.json()["code"]) == (410, "episode_expired")


def test_an_expired_battle_is_closed_and_its_figures_stay(visitor: Visitor, old: str) -> None:
    before = side_of(old, "left")
    retention.expire()
    battle = visitor.battle(old)
    assert (battle["status"], battle["can_vote"], battle["can_send"]) == ("abandoned", False, False)
    refused = visitor.post("votes", {"battle_id": old, "vote": "tie"})
    assert (refused.status_code, refused.json()["code"]) == (409, "battle_closed")
    after = side_of(old, "left")
    assert (after.status, after.success, after.length) == (before.status, before.success, before.length)


def test_a_voted_battles_recordings_stay_and_so_do_its_explorations(visitor: Visitor, runtime: FakeRuntime) -> None:
    voted = play_battle(visitor)
    assert visitor.post("votes", {"battle_id": voted, "vote": "tie"}).status_code == 201
    explored = visitor.post(f"battles/{voted}/explorations", {"instruction": "wave"})
    assert explored.status_code == 202, explored.content
    play(explored.json())
    age(voted, 10_000)
    assert retention.expire(grace=AT_ONCE) == Expiry()
    assert stored(voted) == [True] * 4


def test_a_battle_that_somebody_touched_lately_stays(visitor: Visitor, runtime: FakeRuntime) -> None:
    lately = play_battle(visitor)
    age(lately, 89)
    assert retention.expire() == Expiry()


def test_a_turn_that_is_being_played_is_waited_for(visitor: Visitor, old: str) -> None:
    Turn.objects.update(settled_at=None)
    assert retention.forecast() == retention.expire() == Expiry()


def test_a_vote_that_comes_first_keeps_the_recordings(
    visitor: Visitor, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of what may expire was read before the vote."""
    expire = actions.expire_battle

    def after_the_vote(*arguments: Any) -> int:
        assert visitor.post("votes", {"battle_id": old, "vote": "tie"}).status_code == 201
        return expire(*arguments)

    monkeypatch.setattr(actions, "expire_battle", after_the_vote)
    assert retention.expire(grace=AT_ONCE) == Expiry()
    assert stored(old) == [True, True]


def test_nothing_expires_where_the_policy_is_for_ever(visitor: Visitor, old: str, settings: Any) -> None:
    settings.UNVOTED_DAYS = 0
    assert retention.expire() == Expiry()
    assert command("--days", "0") == {"battles": 0, "recordings": 0, "deleted": 0}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(visitor: Visitor, old: str) -> None:
    assert command("--dry-run") == {"battles": 1, "recordings": 2, "deleted": 0}
    assert not Attempt.objects.exclude(expired_at=None).exists()
    assert command("--dry-run", "--days", "101") == {"battles": 0, "recordings": 0, "deleted": 0}


def test_by_hand_the_day_in_between_can_be_left_out(visitor: Visitor, old: str) -> None:
    assert command("--at-once") == {"battles": 1, "recordings": 2, "deleted": 2}
    assert stored(old) == [False, False]


def test_more_than_a_batch_expires_in_one_run(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    battles = [play_battle(visitor) for _ in range(3)]
    for battle_id in battles:
        age(battle_id, 100)
    assert retention.expire(grace=AT_ONCE) == Expiry(battles=3, recordings=6, deleted=6)


def test_where_the_store_is_away_the_next_run_goes_on(
    visitor: Visitor, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(episode_ids: list[str]) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as outage:
        outage.setattr(get_store(), "delete", away)
        with pytest.raises(CommandError, match="left to the next run"):
            command("--at-once")
    assert Battle.objects.get(battle_id=old).status == BattleStatus.ABANDONED
    assert command("--at-once") == {"battles": 0, "recordings": 0, "deleted": 2}


def test_a_negative_age_is_refused(transactional_db: None) -> None:
    with pytest.raises(CommandError, match="give a number of days"):
        call_command("expire_episodes", "--days", "-1")
