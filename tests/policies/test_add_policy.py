"""Published weights are not here: their rows say so and how to install them, and one command does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arena.models import ContestantStatus
from policies import memory, names
from policies.models import Policy
from policies.seeding import seed_policies
from robots.players import open_player
from robots.policy_lookup import find_policy
from simulation import catalogue
from simulation.environment import Environment
from tests.policies.tiny_networks import BRIDGE, write_json, write_octo, write_openvla

pytestmark = pytest.mark.django_db


@pytest.fixture
def seeded(tmp_path: Path) -> None:
    seed_policies(tmp_path / "none", catalogue.embodiments())


def add(model_id: str, folder: Path, *more: str) -> dict[str, Any]:
    lines: list[str] = []

    class Out:
        def write(self, text: str) -> None:
            lines.append(text)

    call_command("add_policy", model_id, "--weights", str(folder), "--json", *more, stdout=Out())
    answer: dict[str, Any] = json.loads("".join(lines))
    return answer


def model(model_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = Client().get(f"/api/models/{model_id}").json()
    return answer


@pytest.mark.parametrize("model_id", ["openvla-7b", "octo-base"])
def test_published_policies_are_known_and_unavailable_until_their_weights_come(seeded: None, model_id: str) -> None:
    shown = model(model_id)
    assert shown["status"] == "unavailable"
    assert f"manage.py add_policy {model_id} --weights PATH" in shown["status_reason"]
    for field in ("family", "license", "provenance", "training_data", "source", "parameters", "weights_bytes"):
        assert shown[field], field
    assert shown["success"] is None
    assert not Policy.objects.contestants().exists()


def test_a_folder_is_entered_under_a_name_of_its_own_and_can_be_played(tmp_path: Path) -> None:
    answer = add("my-vla", write_openvla(tmp_path / "weights"), "--name", "My VLA", "--license", "MIT")
    assert (answer["created"], answer["status"], answer["warnings"]) == (True, "active", [])
    row = Policy.objects.get(id="my-vla")
    assert (row.name, row.family, row.license, row.adapter) == ("My VLA", "openvla", "MIT", "openvla")
    assert row.parameters == answer["parameters"] > 10_000
    assert row.weights_bytes == sum(path.stat().st_size for path in (tmp_path / "weights").glob("*.safetensors"))
    assert len(row.revision) == 64
    assert open_player(find_policy("my-vla"), Environment("widowx", "table")).policy is not None


def test_the_published_weights_make_their_row_active_with_all_its_facts(
    seeded: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_octo(tmp_path / "weights")
    size = add("other", folder)["parameters"]
    monkeypatch.setitem(names.PUBLISHED["octo-base"], "parameters", size)
    answer = add("octo-base", folder)
    assert (answer["created"], answer["status"], answer["warnings"]) == (False, "active", [])
    shown = model("octo-base")
    assert (shown["name"], shown["license"], shown["status_reason"]) == ("Octo base 1.5", "MIT", "")
    assert shown["statistics_key"] == "bridge_dataset"
    seed_policies(tmp_path / "none", catalogue.embodiments())
    assert Policy.objects.get(id="octo-base").model_path == str(folder)
    assert Policy.objects.get(id="octo-base").status == ContestantStatus.ACTIVE


def test_weights_of_another_size_do_not_get_the_published_name(seeded: None, tmp_path: Path) -> None:
    answer = add("openvla-7b", write_openvla(tmp_path / "weights"))
    assert "7,541,237,184" in answer["warnings"][0]
    row = Policy.objects.get(id="openvla-7b")
    assert (row.status, row.name, row.source) == (ContestantStatus.ACTIVE, "openvla-7b", "")
    assert row.provenance == "Weights as found in the folder weights; not trained by VLA Arena"


def test_a_fine_tune_is_opened_with_the_statistics_that_the_row_asks_for(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "weights")
    write_json(folder / "dataset_statistics.json", {"kitchen": {"action": BRIDGE}, "office": {"action": BRIDGE}})
    with pytest.raises(CommandError, match=r"bridge_orig.*known: kitchen, office"):
        add("tuned", folder)
    assert add("tuned", folder, "--statistics-key", "office")["statistics_key"] == "office"
    player = open_player(Policy.objects.get(id="tuned"), Environment("widowx", "table"))
    assert player.policy.spec.statistics_key == "office"  # type: ignore[attr-defined]
    Policy.objects.filter(id="tuned").update(statistics_key="garage")
    with pytest.raises(Exception, match=r"garage.*known: kitchen, office"):
        open_player(Policy.objects.get(id="tuned"), Environment("widowx", "table"))


def test_a_broken_folder_is_refused_by_name_and_leaves_the_row_alone(seeded: None, tmp_path: Path) -> None:
    before = Policy.objects.filter(id="openvla-7b").values().get()
    folder = write_openvla(tmp_path / "weights")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(CommandError, match=r"tokenizer\.json is missing"):
        add("openvla-7b", folder)
    with pytest.raises(CommandError, match=r"nowhere: no such directory"):
        add("openvla-7b", tmp_path / "nowhere")
    write_json(folder / "config.json", {"model_type": "bert"})
    with pytest.raises(CommandError, match=r"unknown architecture 'bert'.*known: openvla, octo"):
        add("openvla-7b", folder)
    assert Policy.objects.filter(id="openvla-7b").values().get() == before


def test_what_the_machine_has_no_room_for_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "free", lambda device: 1000)
    with pytest.raises(CommandError, match=r"takes .* GB, cpu has 0\.0 GB free.*--device cuda"):
        add("mine", write_octo(tmp_path / "weights"))


def test_a_folder_of_another_family_and_an_impossible_id_are_refused(tmp_path: Path) -> None:
    folder = write_octo(tmp_path / "weights")
    with pytest.raises(CommandError, match="family 'octo', not 'openvla'"):
        add("mine", folder, "--family", "openvla")
    with pytest.raises(CommandError, match="letters, digits"):
        add("not an id", folder)
    assert not Policy.objects.exists()


def test_what_a_moderator_retired_stays_retired(tmp_path: Path) -> None:
    folder = write_octo(tmp_path / "weights")
    add("mine", folder)
    Policy.objects.get(id="mine").retire("too slow")
    answer = add("mine", folder, "--name", "Mine")
    assert answer["status"] == "retired"
    assert "too slow" in answer["warnings"][0]


def test_success_is_summed_over_the_tasks_with_its_interval(settings: Any) -> None:
    seed_policies(settings.POLICY_WEIGHTS, catalogue.embodiments())
    success = model("film-base")["success"]
    assert (success["episodes"], success["successes"]) == (600, 595)
    assert success["low"] < success["rate"] < success["high"]
    assert model("film-base")["parameters"] == 382849
    assert "3,771 scripted demonstrations" in model("film-base")["training_data"]
    assert model("scripted-expert")["success"] is None
