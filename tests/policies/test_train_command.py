"""`manage.py train FAMILY`: each family brings its own options; a run can be stopped, resumed and exported by hand."""

from __future__ import annotations

import json
from functools import partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from policies.folder import read_card
from policies.openvla import training
from policies.openvla.sizes import OpenVLAMiniSizes
from policies.registry import open_policy
from tests.policies.tiny import SIZE, write_demos

TINY = OpenVLAMiniSizes(image_size=SIZE, patch=8, tower_dim=24, tower_depth=3, tower_heads=2, dim=32, layers=4, mlp=48)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_demos(tmp_path / "demos")


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command trains the shipped sizes; here it is made to train small ones."""
    from_options = partial(training.OpenVLAPlan.from_options, sizes=TINY)
    monkeypatch.setattr(training, "OpenVLAPlan", SimpleNamespace(from_options=from_options))


def train(family: str, *options: object) -> dict[str, Any]:
    out = StringIO()
    call_command("train", family, *map(str, options), "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_openvla_is_trained_in_two_runs_and_written_as_a_folder_that_opens(data: Path, tmp_path: Path) -> None:
    common = ("--data", data, "--batch", 8)
    train("openvla", *common, "--run", tmp_path / "towers", "--out", tmp_path / "a", "--samples", 16, "--towers-only")
    mini = tmp_path / "openvla-toy"
    whole = (*common, "--run", tmp_path / "run", "--out", mini, "--samples", 16, "--start-from", tmp_path / "towers")
    card = train("openvla", *whole, "--tower-rate", 0.5)
    assert card["id"] == "openvla-toy"
    assert card["chunk"] == card["execute"] == 1
    assert card["training"]["plan"]["origin"] == "towers, 16 samples"
    assert [past["samples"] for past in card["training"]["before"]] == [16]
    assert "OpenVLA architecture, trained by VLA Arena" in card["provenance"]
    open_policy(mini)


def test_a_folder_can_be_written_again_from_the_checkpoint(data: Path, tmp_path: Path) -> None:
    options = ("--data", data, "--run", tmp_path / "run", "--out", tmp_path / "toy", "--samples", 16, "--batch", 8)
    first = train("openvla", *options)
    again = train("openvla", *options, "--export-only", "--description", "Told anew.")
    assert again["revision"] == first["revision"]
    assert read_card(tmp_path / "toy").description == "Told anew."


def test_an_unknown_family_names_the_known_ones() -> None:
    with pytest.raises(CommandError, match=r"invalid choice: 'pi0' .*film.*openvla"):
        call_command("train", "pi0", "--data", "d", "--run", "r", "--out", "o")


def test_an_option_of_another_family_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--mute"):
        train("openvla", "--data", data, "--run", tmp_path / "run", "--out", tmp_path / "o", "--mute")


def test_starting_from_a_run_that_is_not_there_says_so(data: Path, tmp_path: Path) -> None:
    where = ("--data", data, "--run", tmp_path / "r", "--out", tmp_path / "o")
    with pytest.raises(CommandError, match=r"checkpoint\.json is missing"):
        train("openvla", *where, "--start-from", tmp_path / "no")
