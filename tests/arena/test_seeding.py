"""The shipped policies enter the registry, and what moderators decided about them stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from arena.models import ContestantStatus
from policies.base import PolicyCard, PolicySpec
from policies.folder import CARD, WEIGHTS, write_json, write_sums
from policies.models import Policy
from policies.seeding import seed_policies
from simulation import catalogue
from simulation.contracts import POLICY_CAMERA, Chunking

pytestmark = pytest.mark.django_db


def ship(weights: Path, policy_id: str, **more: Any) -> Path:
    """A policy folder as training leaves it, with weights that nobody will open."""
    folder = weights / policy_id
    folder.mkdir(parents=True, exist_ok=True)
    spec = PolicySpec(policy_id, "A policy", "film", (POLICY_CAMERA,), 4, Chunking(2), "table")
    texts = {"description": "Small", "organization": "VLA Arena", "license": "Apache-2.0", "revision": "r1"}
    card = PolicyCard(
        spec, provenance="Trained here", network={}, training={}, measured={"pick": {"rate": 0.9}}, **texts
    )
    write_json(folder / CARD, {**card.to_json(), **more})
    (folder / WEIGHTS).write_bytes(b"weights")
    write_sums(folder)
    return folder


def test_folders_and_references_are_entered(tmp_path: Path) -> None:
    folder = ship(tmp_path, "film-test")
    assert all(each.created for each in seed_policies(tmp_path, catalogue.embodiments()))
    policy = Policy.objects.get(id="film-test")
    assert (policy.name, policy.adapter, policy.family, policy.revision) == ("A policy", "film", "film", "r1")
    assert policy.model_path == str(folder)
    assert policy.card["measured"] == {"pick": {"rate": 0.9}}
    assert [each.id for each in Policy.objects.contestants()] == ["film-test"]
    assert set(Policy.objects.filter(reference=True).values_list("id", flat=True)) == {"hold-still", "scripted-expert"}


def test_seeding_again_refreshes_the_card_and_keeps_a_moderators_decision(tmp_path: Path) -> None:
    ship(tmp_path, "film-test")
    seed_policies(tmp_path, catalogue.embodiments())
    Policy.objects.get(id="film-test").retire("Too slow")
    ship(tmp_path, "film-test", revision="r2")
    assert not any(each.created for each in seed_policies(tmp_path, catalogue.embodiments()))
    policy = Policy.objects.get(id="film-test")
    assert (policy.revision, policy.status, policy.status_reason) == ("r2", ContestantStatus.RETIRED, "Too slow")


@pytest.mark.parametrize("damage", ["weights", "card", "gone"])
def test_a_broken_folder_makes_its_policy_unavailable_until_it_is_whole_again(tmp_path: Path, damage: str) -> None:
    folder = ship(tmp_path, "film-test")
    seed_policies(tmp_path, catalogue.embodiments())
    if damage == "weights":
        (folder / WEIGHTS).write_bytes(b"other weights")
    elif damage == "card":
        (folder / CARD).write_text("{")
    else:
        (folder / CARD).unlink()
    seed_policies(tmp_path, catalogue.embodiments())
    policy = Policy.objects.get(id="film-test")
    assert policy.status == ContestantStatus.UNAVAILABLE
    assert policy.status_reason.startswith("folder: ")
    ship(tmp_path, "film-test")
    seed_policies(tmp_path, catalogue.embodiments())
    assert Policy.objects.get(id="film-test").status == ContestantStatus.ACTIVE


def test_what_a_moderator_made_unavailable_stays_so(tmp_path: Path) -> None:
    ship(tmp_path, "film-test")
    seed_policies(tmp_path, catalogue.embodiments())
    Policy.objects.get(id="film-test").mark_unavailable("Under review")
    seed_policies(tmp_path, catalogue.embodiments())
    assert Policy.objects.get(id="film-test").status_reason == "Under review"


def test_a_broken_folder_that_was_never_entered_is_reported_and_keeps_nobody_else_out(tmp_path: Path) -> None:
    ship(tmp_path, "film-good")
    (ship(tmp_path, "film-bad") / CARD).write_text("[]")
    troubles = {each.model_id: bool(each.trouble) for each in seed_policies(tmp_path, catalogue.embodiments())}
    assert [model_id for model_id, trouble in troubles.items() if trouble] == ["film-bad"]
    assert set(troubles) >= {"film-good", "hold-still", "scripted-expert"}
    assert not Policy.objects.filter(id="film-bad").exists()


def test_the_commands_seed_and_list(tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    ship(tmp_path, "film-test")
    settings.POLICY_WEIGHTS = tmp_path
    call_command("seed_policies", "--json")
    assert {each["model_id"] for each in json.loads(capsys.readouterr().out)["policies"]} >= {"film-test"}
    call_command("policies", "--json")
    listed = json.loads(capsys.readouterr().out)["policies"]
    assert listed[0] == {
        "model_id": "film-test",
        "name": "A policy",
        "family": "film",
        "status": "active",
        "reference": False,
        "provenance": "Trained here",
    }
    call_command("seed_policies")
    call_command("policies")
    assert "film-test: up to date" in capsys.readouterr().out


def test_what_ships_with_the_arena_is_whole(settings: Any) -> None:
    assert [each for each in seed_policies(settings.POLICY_WEIGHTS, catalogue.embodiments()) if each.trouble] == []
    assert Policy.objects.contestants().count() >= 2
