"""How often a policy reached its goals stands beside its card, however the card is written."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from policies.models import Policy
from tests.factories import PolicyFactory

pytestmark = pytest.mark.django_db


def card(*tasks: tuple[int, int], suite: str = "table") -> dict[str, Any]:
    rows = {f"task-{number}": {"successes": won, "episodes": of} for number, (won, of) in enumerate(tasks)}
    return {"measured": {suite: {"tasks": rows}}}


def told(policy: Policy) -> tuple[int, int] | None:
    found = Policy.objects.get(pk=policy.pk).success
    return (found["successes"], found["episodes"]) if found else None


def test_all_tasks_of_the_unshifted_suite_count_together() -> None:
    assert told(PolicyFactory(card=card((7, 20), (3, 10)))) == (10, 30)


@pytest.mark.parametrize("unmeasured", [{}, {"measured": None}, {"measured": {}}, card(), card((7, 20), suite="light")])
def test_without_such_a_suite_there_is_no_rate(unmeasured: dict[str, Any]) -> None:
    assert told(PolicyFactory(card=unmeasured)) is None


def test_a_policy_that_never_succeeded_has_a_rate() -> None:
    assert told(PolicyFactory(card=card((0, 20)))) == (0, 20)


def test_a_card_that_is_written_alone_changes_the_rate() -> None:
    policy = PolicyFactory(card=card((7, 20)))
    Policy.objects.update_or_create(pk=policy.pk, defaults={"card": card((9, 20))})
    assert told(policy) == (9, 20)
    policy.card = card((8, 40))
    policy.save(update_fields=["card"])
    assert told(policy) == (8, 40)


def test_who_saves_a_policy_without_its_card_leaves_the_rate() -> None:
    policy = PolicyFactory(card=card((7, 20)))
    listed = Policy.objects.defer("card").get(pk=policy.pk)
    listed.name = "Another"
    listed.save()
    listed.save(update_fields=["name"])
    assert "card" in listed.get_deferred_fields()
    assert told(policy) == (7, 20)


def test_the_rows_of_an_earlier_release_are_counted_by_the_migration() -> None:
    measured, silent = PolicyFactory(card=card((7, 20), (3, 10))), PolicyFactory(card={})
    Policy.objects.update(measured_successes=0, measured_episodes=0)
    import_module("policies.migrations.0010_counts_of_the_card").fill(apps, connection.schema_editor())
    assert (told(measured), told(silent)) == ((10, 30), None)
