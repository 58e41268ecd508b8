"""A page per policy: what it is, its record, its battles, its success by task."""

from __future__ import annotations

import pytest
from django.test import Client

from policies.models import Policy
from simulation import catalogue
from tests.factories import BattleFactory, PolicyFactory, VoteFactory

pytestmark = pytest.mark.django_db


def measured(task_id: str, successes: int, episodes: int) -> dict[str, object]:
    row = {"episodes": episodes, "successes": successes, "rate": successes / episodes, "low": 0.2, "high": 0.6}
    return {"measured": {"table": {"tasks": {task_id: row}}}}


def page_of(client: Client, policy: Policy) -> str:
    answer = client.get(f"/models/{policy.pk}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_policy_says_where_it_comes_from_and_how_often_it_succeeds(client: Client) -> None:
    task = catalogue.tasks()[0]
    policy = PolicyFactory(
        description="Looks before it leaps",
        provenance="Trained in a test",
        training_data="Seven demonstrations",
        parameters=1234567,
        card=measured(task.id, 7, 20),
    )
    page = page_of(client, policy)
    for text in ("Looks before it leaps", "Trained in a test", "Seven demonstrations", task.name, "35 %", "(7 / 20)"):
        assert text in page


@pytest.mark.parametrize(("successes", "told"), [(200, "100 %"), (199, "99 %"), (120, "60 %"), (1, "1 %"), (0, "0 %")])
def test_only_what_never_failed_reads_as_always_and_only_what_always_did_as_never(
    client: Client, successes: int, told: str
) -> None:
    policy = PolicyFactory(name="Hero", card=measured("pick", successes, 200))
    assert f'<td class="number">{told} <' in page_of(client, policy)
    assert f"<dd>{told}</dd>" in client.get("/models").content.decode()


def test_recent_battles_are_told_from_its_side_and_can_be_watched(client: Client) -> None:
    hero, rival = PolicyFactory(name="Hero"), PolicyFactory(name="Rival")
    won = VoteFactory(battle=BattleFactory(left_model=rival, right_model=hero, status="voted"), vote="right_better")
    page = page_of(client, hero)
    assert f'href="/b/{won.battle_id}"' in page
    assert "result-won" in page
    assert "against Rival" in page
    assert "result-lost" in page_of(client, rival)


def test_tasks_of_several_scenes_tell_their_scenes_in_the_order_of_the_catalogue(client: Client) -> None:
    row = {"episodes": 200, "successes": 190, "rate": 0.95, "low": 0.91, "high": 0.97}
    several = {"workbench_pick": row, "open_drawer": row, "pick": row}
    page = page_of(client, PolicyFactory(card={"measured": {"table": {"tasks": several}}}))
    told = [page.index(f'<span class="soft">{scene}</span>') for scene in ("Table top", "Workbench", "Cabinet")]
    assert told == sorted(told)
    alone = page_of(client, PolicyFactory(card={"measured": {"table": {"tasks": {"pick": row}}}}))
    assert "Table top" not in alone


def test_what_was_never_measured_nor_voted_on_says_so(client: Client) -> None:
    page = page_of(client, PolicyFactory())
    assert "It has no votes yet" in page
    assert "None yet." in page


def test_an_unknown_policy_is_not_found(client: Client) -> None:
    assert client.get("/models/nobody").status_code == 404


def test_the_list_shows_contestants_and_no_references(client: Client) -> None:
    PolicyFactory(name="Hero")
    PolicyFactory(name="Retired one", status="retired")
    PolicyFactory(name="Reference", reference=True)
    page = client.get("/models").content.decode()
    assert "Hero" in page
    assert "retired" in page
    assert "Reference" not in page
