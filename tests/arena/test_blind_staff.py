"""Staff may vote as well: until the vote they see of a battle what its visitor sees, or spoil it by looking."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.admin.sites import site
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Hosting, Session, Turn
from policies.models import Policy
from robots.models import Rollout
from tests.arena.conftest import Visitor, battle_row, play, play_battle, side_of
from tests.factories import BattleFactory, PolicyFactory, TurnFactory, VoteFactory
from tests.fakes import FakePolicy, FakeRuntime
from tests.people import logged_in, moderator, operator

LEFT, RIGHT = "hidden-left", "hidden-right"
SECRETS = (LEFT, RIGHT, "Hidden Left", "Hidden Right", "gpu-of-left", "the story of left", "policy_failed", "81818")


@pytest.fixture
def superuser(transactional_db: None) -> Client:
    return logged_in(User.objects.create_superuser("root"))


@pytest.fixture
def battle(transactional_db: None) -> Battle:
    """Without a vote. Turns: one completed, one whose left side failed, one that is played."""
    battle = BattleFactory(
        left_model=PolicyFactory(id=LEFT, name="Hidden Left"), right_model=PolicyFactory(id=RIGHT, name="Hidden Right")
    )
    told = {"worker": "gpu-of-left", "duration_ms": 81818.0, "finished_at": timezone.now()}
    completed = TurnFactory(battle=battle, completed=True).attempts.filter(side="left")
    completed.update(**told)
    Rollout.objects.create(attempt=completed.get(), infer_ms=81818.0)
    failed = TurnFactory(battle=battle, completed=True).attempts.filter(side="left")
    failed.update(
        status=AttemptStatus.FAILED, termination_reason="policy_failed", error="the story of left", success=None, **told
    )
    playing = TurnFactory(battle=battle).attempts.filter(side="left")
    playing.update(status=AttemptStatus.RUNNING, worker="gpu-of-left", length=7)
    return battle


def listed(model: Any, query: str = "") -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") + query


def own_page(row: Any, view: str = "change") -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{view}", args=[row.pk])


def pages_about(battle: Battle) -> Iterator[str]:
    """Every list, and the pages and histories of all that belongs to the battle."""
    rows = [battle, battle.session, *battle.turns.all(), *Attempt.objects.filter(turn__battle=battle)]
    for row in rows:
        yield own_page(row)
        yield own_page(row, "history")
    for model in site._registry:
        if model is not Policy:
            yield listed(model)
    yield from ("/admin/", "/admin/status/", f"/battle/{battle.battle_id}")


def names_in(client: Client, address: str) -> list[str]:
    answer = client.get(address, headers={"Host": "localhost"})
    assert answer.status_code == 200, address
    content = answer.content.decode()
    # The filter by model names all policies, whoever plays.
    shown = content.replace('<a href="?known_model', "\n<filter").split("\n")
    text = "\n".join(line for line in shown if not line.startswith("<filter"))
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize("who", [moderator, operator])
def test_no_page_of_the_admin_names_the_policies_of_an_unvoted_battle(battle: Battle, who: Any) -> None:
    client = logged_in(who())
    for model in site._registry:
        if client.get(listed(model)).status_code == 200 and model is not Policy:
            assert names_in(client, listed(model)) == [], model
    for address in pages_about(battle):
        if client.get(address).status_code == 200:
            assert names_in(client, address) == [], address


def test_not_even_a_superuser_sees_them(battle: Battle, superuser: Client) -> None:
    for address in pages_about(battle):
        assert names_in(superuser, address) == [], address


def test_the_api_is_as_blind_for_staff_as_for_the_visitor(battle: Battle, superuser: Client) -> None:
    told = superuser.get(f"/api/battles/{battle.battle_id}").content.decode()
    assert [name for name in (LEFT, RIGHT, "Hidden Left", "Hidden Right", "the story") if name in told] == []


def test_after_the_vote_everything_is_shown(battle: Battle, superuser: Client) -> None:
    Battle.objects.filter(pk=battle.pk).update(status=BattleStatus.VOTED)
    assert {LEFT.replace("-", " ").title(), RIGHT.replace("-", " ").title()} <= set(
        names_in(superuser, own_page(battle))
    )
    assert {"Hidden Left", "gpu-of-left", "policy_failed"} <= set(names_in(superuser, listed(Attempt)))
    failed = Attempt.objects.get(error="the story of left")
    assert set(names_in(superuser, own_page(failed))) >= {"the story of left", "gpu-of-left", "81818"}


ORACLES = [
    (Battle, "left_model={left}"),
    (Battle, "left_model__id__exact={left}"),
    (Battle, "left_model__in={left}"),
    (Battle, "left_model_id={left}"),
    (Battle, "left_model__name__startswith=Hidden"),
    (Battle, "right_model__id__exact={right}"),
    (Battle, "secret__startswith=a"),
    (Battle, "seed={seed}"),
    (Battle, "purpose=rank"),
    (Battle, "repeats__isnull=True"),
    (Battle, "event_seq__gte=0"),
    (Battle, "turns__attempts__model={left}"),
    (Session, "battles__left_model={left}"),
    (Session, "battles={pk}"),
    (Turn, "battle__left_model={left}"),
    (Turn, "attempts__model={left}"),
    (Turn, "settled_at__isnull=True"),
    (Attempt, "model={left}"),
    (Attempt, "model__id__exact={left}"),
    (Attempt, "status__exact=failed"),
    (Attempt, "termination_reason=policy_failed"),
    (Attempt, "error__contains=left"),
    (Attempt, "worker__startswith=gpu"),
    (Attempt, "rollout__infer_ms__gt=80000"),
    (Attempt, "duration_ms__isnull=False"),
    (Attempt, "length__gt=5"),
    (Attempt, "success__exact=0"),
    (Attempt, "started_at__isnull=False"),
    (Attempt, "finished_at__isnull=False"),
    (Attempt, "turn__battle__left_model={left}"),
    (Policy, "battles_left={pk}"),
    (Policy, "battles_left__pk={pk}"),
    (Policy, "battles_right__in={pk}"),
    (Policy, "attempts__isnull=False"),
    (Policy, "attempts={rollout}"),
    (Policy, "votes_left__isnull=True"),
]


@pytest.mark.parametrize(("model", "query"), ORACLES)
def test_no_list_answers_what_would_name_a_policy(battle: Battle, superuser: Client, model: Any, query: str) -> None:
    """What may not be asked leads to the whole list, or nowhere; it must not be answered by fewer rows."""
    rollout = Attempt.objects.filter(turn__battle=battle)[0].pk
    asked = query.format(left=LEFT, right=RIGHT, pk=battle.pk, seed=battle.seed, rollout=rollout)

    answer = superuser.get(listed(model, f"?{asked}"))

    if answer.status_code == 200:
        assert answer.context["cl"].result_count == model.objects.count()
    else:
        assert answer.status_code in (302, 400)


@pytest.mark.parametrize("model", [Battle, Turn, Attempt, Session, Policy])
def test_counts_beside_filters_are_not_given(battle: Battle, superuser: Client, model: Any) -> None:
    if model in (Battle, Turn, Attempt):
        assert not superuser.get(listed(model, "?_facets=True")).context["cl"].add_facets


@pytest.mark.parametrize("word", [LEFT, "Hidden", "gpu-of-left", "story", "policy_failed"])
@pytest.mark.parametrize("model", [Battle, Turn, Attempt, Session])
def test_no_search_finds_what_is_hidden(battle: Battle, superuser: Client, model: Any, word: str) -> None:
    assert superuser.get(listed(model, f"?q={word}")).context["cl"].result_count == 0


SORTED_BY = {
    Battle: {"battle_id", "status", "spoiled", "hidden_at", "starts", "seq_in_session", "created_at"},
    Turn: {"turn_id", "instruction", "start", "is_fork", "seq", "battle", "created_at"},
    Attempt: {"episode_id", "side", "created_at"},
}


@pytest.mark.parametrize("model", SORTED_BY)
def test_a_list_is_sorted_by_what_its_visitor_sees_alone(superuser: Client, model: Any) -> None:
    changes = superuser.get(listed(model)).context["cl"]
    assert {changes.get_ordering_field(column) for column in changes.list_display} - {None} == SORTED_BY[model]


def test_filters_by_model_and_end_answer_about_battles_without_secrets_alone(battle: Battle, superuser: Client) -> None:
    voted = VoteFactory(battle__left_model_id=LEFT, battle__right_model_id=RIGHT).battle

    def found(model: Any, query: str) -> set[int]:
        return {row.pk for row in superuser.get(listed(model, f"?{query}")).context["cl"].result_list}

    assert found(Battle, f"known_model={LEFT}") == {voted.pk}
    of_left = set(Attempt.objects.filter(turn__battle=voted, model_id=LEFT).values_list("pk", flat=True))
    assert found(Attempt, f"known_model={LEFT}") == of_left
    assert found(Attempt, "known_end=policy_failed") == set()
    assert "policy_failed" not in superuser.get(listed(Attempt)).content.decode()


def test_a_failed_turn_is_found_with_both_its_sides(battle: Battle, superuser: Client) -> None:
    failed = Turn.objects.get(attempts__error="the story of left")
    rows = superuser.get(listed(Attempt, "?turn_state=failed")).context["cl"].result_list
    assert {row.pk for row in rows} == set(failed.attempts.values_list("pk", flat=True))
    Turn.objects.update(shown_at=timezone.now() + timedelta(minutes=1))
    assert not superuser.get(listed(Attempt, "?turn_state=failed")).context["cl"].result_count


def reveal(client: Client, battle: Battle, reason: str = "A visitor asked for help") -> Any:
    return client.post(own_page(battle, "reveal"), {"reason": reason}, follow=True)


@pytest.mark.parametrize("who", [moderator, operator])
def test_revealing_the_names_asks_first_then_shows_them_spoils_the_battle_and_is_on_record(
    battle: Battle, who: Any
) -> None:
    client = logged_in(who())
    assert own_page(battle, "reveal") in client.get(own_page(battle)).content.decode()
    asked = client.get(own_page(battle, "reveal"))
    assert b"counts nowhere" in asked.content
    battle.refresh_from_db()
    assert not battle.spoiled

    shown = reveal(client, battle).content.decode()

    assert "Hidden Left" in shown
    assert "Hidden Right" in shown
    assert own_page(battle, "reveal") not in shown
    battle.refresh_from_db()
    assert battle.spoiled
    noted = LogEntry.objects.get()
    assert (noted.user.username, noted.object_id) == (who.__name__, str(battle.pk))
    assert "A visitor asked for help" in noted.change_message
    assert "A visitor asked for help" in client.get(own_page(battle, "history")).content.decode()
    assert "gpu-of-left" in client.get(listed(Attempt)).content.decode()


def test_without_a_reason_nothing_is_revealed(battle: Battle, superuser: Client) -> None:
    for reason in ("", "   "):
        assert "required" in reveal(superuser, battle, reason).content.decode()
    battle.refresh_from_db()
    assert not battle.spoiled
    assert not LogEntry.objects.exists()


def test_who_may_only_look_may_not_reveal(battle: Battle) -> None:
    onlooker = User.objects.create_user("onlooker", is_staff=True)
    onlooker.user_permissions.add(Permission.objects.get(codename="view_battle"))
    client = logged_in(onlooker)
    assert own_page(battle, "reveal") not in client.get(own_page(battle)).content.decode()
    assert client.get(own_page(battle, "reveal")).status_code == 403
    assert reveal(client, battle).status_code == 403
    battle.refresh_from_db()
    assert not battle.spoiled


def test_another_site_cannot_reveal_for_a_moderator(battle: Battle) -> None:
    client = logged_in(moderator(), enforce_csrf_checks=True)
    assert reveal(client, battle).status_code == 403
    battle.refresh_from_db()
    assert not battle.spoiled


def test_a_battle_that_is_not_there_cannot_be_revealed(superuser: Client) -> None:
    assert superuser.get("/admin/arena/battle/99/reveal/").status_code == 404
    assert superuser.get("/admin/arena/battle/x/reveal/").status_code == 404


def test_after_the_vote_there_is_nothing_to_spoil(superuser: Client) -> None:
    battle = VoteFactory().battle
    assert own_page(battle, "reveal") not in superuser.get(own_page(battle)).content.decode()
    assert "known already" in reveal(superuser, battle).content.decode()
    battle.refresh_from_db()
    assert not battle.spoiled


def test_a_spoiled_battle_can_still_be_voted_on_and_its_visitor_is_told_nothing(
    visitor: Visitor, runtime: FakeRuntime, superuser: Client
) -> None:
    battle_id = play_battle(visitor)
    before = visitor.battle(battle_id)
    reveal(superuser, battle_row(battle_id))
    assert visitor.battle(battle_id) == before
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    assert battle_row(battle_id).spoiled


def test_a_retry_by_whichever_side_plays_the_one_that_failed_and_tells_neither(
    visitor: Visitor, runtime: FakeRuntime, superuser: Client
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    runtime.policies = {side_of(battle_id, "left").model_id: FakePolicy(raises=RuntimeError("no luck"))}
    play(turn)
    runtime.policies = {}
    body = {"action": "retry", "_selected_action": [side_of(battle_id, "right").pk]}

    answer = superuser.post(listed(Attempt), body, follow=True)
    told = [str(message) for message in answer.context["messages"]]

    assert told == [f"{turn['turn_id']} is on the queue again"]
    assert [side_of(battle_id, side).status for side in ("left", "right")] == ["queued", "completed"]
    for side in ("left", "right"):
        assert "Played once more" not in superuser.get(own_page(side_of(battle_id, side), "history")).content.decode()


def test_which_workers_play_a_policy_is_no_secret_of_a_battle(battle: Battle, superuser: Client) -> None:
    """The page of a policy says where it can be played, the same whoever is drawn."""
    Hosting.objects.create(worker="one@host", contestant_id=LEFT)
    before = superuser.get(own_page(Policy.objects.get(pk=LEFT))).content
    Attempt.objects.filter(turn__battle=battle).delete()
    after = superuser.get(own_page(Policy.objects.get(pk=LEFT))).content
    assert (b"one@host" in before, before.count(b"battle")) == (b"one@host" in after, after.count(b"battle"))
