"""Tables and columns are named as the requirements name them (V-DB-01..04), and hold what they promise."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, models, transaction
from django.db.models import ProtectedError

from arena.models import Attempt, Battle, Session, Turn, Vote
from policies.models import Policy
from tests.factories import BattleFactory, PolicyFactory, TurnFactory, VoteFactory

COLUMNS = {
    "sessions": "id session_id robot_id scene_id user_id created_at last_active_at",
    "battles": "id battle_id session_id seq_in_session left_model_id right_model_id status created_at updated_at",
    "turns": "id turn_id session_id battle_id battle_seq_in_session seq instruction created_at",
    "votes": "id vote_id battle_id session_id robot_id scene_id left_model_id right_model_id vote processing_status "
    "processed_at error_message voted_at",
    "models": "id name description organization license model_path status created_at",
}
INDEXED = {
    "sessions": "session_id user_id last_active_at",
    "battles": "battle_id session_id seq_in_session status created_at",
    "turns": "turn_id session_id battle_id battle_seq_in_session seq created_at",
    "votes": "vote_id battle_id session_id robot_id scene_id processing_status voted_at",
}


@pytest.mark.django_db
@pytest.mark.parametrize("table", COLUMNS)
def test_a_table_has_the_columns_that_the_requirements_name(table: str) -> None:
    with connection.cursor() as cursor:
        found = {column.name for column in connection.introspection.get_table_description(cursor, table)}
    assert set(COLUMNS[table].split()) <= found


@pytest.mark.django_db
@pytest.mark.parametrize("table", INDEXED)
def test_a_table_has_the_indexes_that_the_requirements_name(table: str) -> None:
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, table).values()
    leading = {found["columns"][0] for found in constraints if found["index"] or found["unique"]}
    assert set(INDEXED[table].split()) <= leading


@pytest.mark.django_db
def test_public_ids_carry_their_prefix_and_cannot_be_guessed() -> None:
    vote = VoteFactory()
    turn = vote.battle.turns.get()
    rollouts = list(turn.attempts.all())
    ids = [vote.session_id, vote.battle_id, turn.turn_id, *(each.episode_id for each in rollouts), vote.vote_id]
    assert [each.partition("_")[0] for each in ids] == ["sess", "battle", "turn", "ep", "ep", "vote"]
    assert len({each.partition("_")[2] for each in ids}) == 6
    assert all(len(each.partition("_")[2]) == 32 for each in ids)


@pytest.mark.django_db
def test_nothing_that_a_vote_rests_on_can_be_deleted() -> None:
    vote = VoteFactory()
    rows: list[models.Model] = [vote.battle.left_model, vote.session, vote.battle, vote.battle.turns.get()]
    for row in rows:
        with pytest.raises(ProtectedError):
            row.delete()
    assert (Vote.objects.count(), Attempt.objects.count()) == (1, 2)


def second_vote(battle: Battle) -> object:
    return Vote.objects.create(
        battle=battle,
        session=battle.session,
        robot_id="widowx",
        scene_id="table",
        left_model=battle.left_model,
        right_model=battle.right_model,
        vote="tie",
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    "twice",
    [
        second_vote,
        lambda battle: BattleFactory(session=battle.session, seq_in_session=battle.seq_in_session),
        lambda battle: TurnFactory(battle=battle, seq=1),
        lambda battle: BattleFactory(left_model=battle.left_model, right_model=battle.left_model),
    ],
)
def test_the_database_itself_refuses_what_must_be_once(twice: Any) -> None:
    battle = VoteFactory().battle
    with pytest.raises(IntegrityError), transaction.atomic():
        twice(battle)


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration() -> None:
    call_command("makemigrations", "arena", "policies", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db
def test_a_policy_that_is_active_has_no_reason_not_to_be() -> None:
    policy = PolicyFactory(status="retired", status_reason="Too slow")
    policy.status = "active"
    policy.save()
    assert Policy.objects.get().status_reason == ""
    assert (Session.objects.count(), Turn.objects.count()) == (0, 0)
