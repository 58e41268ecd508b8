"""Moderators run the policies, look at everything that was played, and change nothing of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.sites import site
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Attempt, AttemptStatus, Battle, ContestantStatus, Session, Turn, Vote
from policies.models import Policy
from rankings.models import ModerationAct
from tests.arena.conftest import Visitor, cast, play, side_of
from tests.factories import PolicyFactory, TurnFactory, VoteFactory
from tests.fakes import FakePolicy, FakeRuntime

RECORDS = [Session, Battle, Turn, Attempt, Vote]


@pytest.fixture
def admin(transactional_db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("moderator"))
    return client


def address(model: Any, view: str = "changelist", *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{view}", args=args)


def act(client: Client, model: Any, action: str, *rows: Any, **more: str) -> str:
    body = {"action": action, "_selected_action": [row.pk for row in rows], **more}
    answer = client.post(address(model), body, follow=True)
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_every_record_is_listed_searched_and_shown_with_its_replay(admin: Client) -> None:
    vote = VoteFactory()
    for model in RECORDS:
        row = model.objects.all()[0]
        listed = admin.get(address(model), {"q": "e"})
        assert listed.status_code == 200
        shown = admin.get(address(model, "change", row.pk))
        assert shown.status_code == 200
        if model is not Session:
            assert f"/battle/{vote.battle_id}" in shown.content.decode()


@pytest.mark.parametrize("model", RECORDS)
def test_no_record_can_be_added_changed_or_deleted_even_by_a_superuser(admin: Client, model: Any) -> None:
    VoteFactory()
    row = model.objects.all()[0]
    before = model.objects.values().get(pk=row.pk)
    assert admin.get(address(model, "add")).status_code == 403
    assert admin.post(address(model, "change", row.pk), {"vote": "tie", "status": "x"}).status_code == 403
    assert admin.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    act(admin, model, "delete_selected", row, post="yes")
    assert model.objects.values().get(pk=row.pk) == before


def test_episodes_are_not_in_the_admin_at_all() -> None:
    assert "simulation" not in {model._meta.app_label for model in site._registry}


def test_a_policy_is_retired_with_a_reason_and_activated_again(admin: Client) -> None:
    policy = PolicyFactory()
    assert "Say why" in act(admin, Policy, "retire", policy)
    policy.refresh_from_db()
    assert policy.status == ContestantStatus.ACTIVE
    act(admin, Policy, "retire", policy, reason="Too slow")
    policy.refresh_from_db()
    assert (policy.status, policy.status_reason) == (ContestantStatus.RETIRED, "Too slow")
    act(admin, Policy, "activate", policy)
    policy.refresh_from_db()
    assert (policy.status, policy.status_reason) == (ContestantStatus.ACTIVE, "")
    logged = ModerationAct.objects.order_by("pk").values_list("action", "subject", "reason", "moderator_name")
    who = User.objects.get().username
    assert list(logged) == [
        ("retire", policy.pk, "Too slow", who),
        ("activate", policy.pk, "no reason given", who),
    ]


def test_whoever_retires_a_policy_is_told_that_the_reason_is_public_and_it_is(admin: Client) -> None:
    policy = PolicyFactory()
    assert "this reason is public" in admin.get(address(Policy, "changelist")).content.decode()
    assert "This reason is public" in admin.get(address(Policy, "change", policy.pk)).content.decode()
    act(admin, Policy, "retire", policy, reason="It broke the gripper")
    page = Client().get(f"/models/{policy.pk}").content.decode()
    assert "It broke the gripper" in page


def test_a_policy_retired_in_its_form_needs_a_reason_and_is_logged(admin: Client) -> None:
    policy = PolicyFactory(id="mine")
    fields = {name: getattr(policy, name) for name in ("name", "license", "family", "adapter", "pairing_weight")}
    refused = admin.post(address(Policy, "change", "mine"), {**fields, "status": "retired"})
    assert "Say why it is retired" in refused.content.decode()
    assert not ModerationAct.objects.exists()
    admin.post(address(Policy, "change", "mine"), {**fields, "status": "retired", "status_reason": "Too slow"})
    assert list(ModerationAct.objects.values_list("action", "subject", "reason")) == [("retire", "mine", "Too slow")]


def test_lists_begin_with_the_newest_and_rollouts_say_their_instruction(admin: Client) -> None:
    votes = [VoteFactory(voted_at=timezone.now() + timedelta(minutes=minute)) for minute in range(3)]
    battles = [vote.battle for vote in votes]
    for minute, battle in enumerate(battles):
        moment = timezone.now() + timedelta(minutes=minute)
        Battle.objects.filter(pk=battle.pk).update(created_at=moment)
        Turn.objects.filter(battle=battle).update(created_at=moment, instruction=f"instruction {minute}")
        Session.objects.filter(pk=battle.session.pk).update(last_active_at=moment)
    newest = {
        Session: [battle.session_id for battle in battles],
        Battle: [battle.battle_id for battle in battles],
        Turn: [battle.turns.get().turn_id for battle in battles],
        Vote: [vote.vote_id for vote in votes],
    }
    for model, oldest_first in newest.items():
        listed = admin.get(address(model, "changelist")).context["cl"].result_list
        assert [str(row) for row in listed] == oldest_first[::-1], model
    rollouts = admin.get(address(Attempt, "changelist"))
    told = [(row.turn.instruction, row.side) for row in rollouts.context["cl"].result_list]
    assert told == [(f"instruction {minute}", side) for minute in (2, 1, 0) for side in ("left", "right")]
    assert "instruction 2" in rollouts.content.decode()


def test_a_cancelled_turn_is_listed_as_cancelled_and_not_as_failed(
    admin: Client, visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    sent = visitor.send(battle_id)
    assert visitor.post(f"turns/{sent['turn_id']}/cancel").status_code == 200
    turns = admin.get(address(Turn, "changelist")).content.decode()
    assert "cancelled</td>" in turns
    assert "failed</td>" not in turns
    for model in (Turn, Attempt):
        for state, number in (("failed", 0), ("cancelled", 1)):
            found = admin.get(address(model, "changelist"), {"turn_state": state}).context["cl"].result_list
            assert len({row.turn_id for row in found}) == number, (model, state)
    play(visitor.send(battle_id))
    cast(visitor, battle_id)
    rollouts = admin.get(address(Attempt, "changelist")).content.decode()
    assert rollouts.count(">cancelled</td>") >= 2
    assert ">failed</td>" not in rollouts


def test_a_policy_is_edited_but_keeps_its_key_and_is_never_deleted(admin: Client) -> None:
    policy = PolicyFactory(id="mine")
    fields = {name: getattr(policy, name) for name in ("license", "family", "adapter", "status", "pairing_weight")}
    answer = admin.post(address(Policy, "change", "mine"), {**fields, "id": "yours", "name": "A new name"})
    assert answer.status_code == 302, answer.content.decode()
    assert Policy.objects.get().name == "A new name"
    assert Policy.objects.get().id == "mine"
    assert admin.post(address(Policy, "delete", "mine"), {"post": "yes"}).status_code == 403


def test_a_failed_rollout_of_the_last_turn_is_played_once_more(
    admin: Client, visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    runtime.policies = {side_of(battle_id, "left").model_id: FakePolicy(raises=RuntimeError("no luck"))}
    play(turn)
    failed = side_of(battle_id, "left")
    assert "is on the queue again" in act(admin, Attempt, "retry", failed)
    assert visitor.battle(battle_id)["turns"][0]["status"] == "running"
    runtime.policies = {}
    play(turn)
    assert visitor.battle(battle_id)["turns"][0]["status"] == "completed"
    assert visitor.battle(battle_id)["can_vote"]
    assert visitor.get(f"episodes/{failed.episode_id}").status_code == 200


def test_what_cannot_be_retried_stays_as_it_is(admin: Client, visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id))
    assert "Only a failed attempt" in act(admin, Attempt, "retry", side_of(battle_id, "left"))
    assert side_of(battle_id, "left").status == AttemptStatus.COMPLETED
    earlier = TurnFactory(completed=True, attempts__status=AttemptStatus.FAILED)
    TurnFactory(battle=earlier.battle, completed=True)
    assert "Only a failed attempt" in act(admin, Attempt, "retry", earlier.attempts.all()[0])


def test_a_turn_that_its_visitor_stopped_is_not_played_once_more(
    admin: Client, visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    sent = visitor.send(battle_id)
    assert visitor.post(f"turns/{sent['turn_id']}/cancel").status_code == 200
    assert "Only a failed attempt" in act(admin, Attempt, "retry", side_of(battle_id, "left"))
    assert {side_of(battle_id, side).status for side in ("left", "right")} == {AttemptStatus.FAILED}
    assert visitor.battle(battle_id)["can_send"]


def test_a_moderator_who_may_only_look_cannot_retry(visitor: Visitor, transactional_db: None) -> None:
    onlooker = User.objects.create_user("onlooker", is_staff=True)
    onlooker.user_permissions.add(Permission.objects.get(codename="view_attempt"))
    client = Client()
    client.force_login(onlooker)
    rollout = TurnFactory(completed=True, attempts__status=AttemptStatus.FAILED).attempts.all()[0]
    act(client, Attempt, "retry", rollout)
    rollout.refresh_from_db()
    assert rollout.status == AttemptStatus.FAILED


def test_visitors_do_not_see_the_admin(visitor: Visitor) -> None:
    for model in [*RECORDS, Policy]:
        assert visitor.client.get(address(model)).status_code == 302
