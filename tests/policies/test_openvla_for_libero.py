"""OpenVLA's fine-tunes for LIBERO are recognised by their statistics, crop pictures, and play the Panda's actions."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from policies.base import BadCard, MissingStatistics
from policies.folder import write_json
from policies.models import Policy
from policies.openvla.policy import OpenVLAPolicy
from policies.registry import describe, open_policy
from robots.players import open_player
from simulation import assets
from simulation.contracts import Observation
from simulation.environment import Environment
from tests.policies.tiny_networks import BRIDGE, SIDE, openvla_json, write_octo, write_openvla

SPATIAL = "libero_spatial_no_noops"


def fine_tune(folder: Path, *keys: str) -> Path:
    write_openvla(folder)
    write_json(folder / "dataset_statistics.json", {key: {"action": BRIDGE} for key in keys or (SPATIAL,)})
    return folder


def test_it_plays_the_panda_and_sees_nine_tenths_of_the_scenes_camera(tmp_path: Path) -> None:
    card = describe(fine_tune(tmp_path / "tuned"))
    assert (card.spec.statistics_key, card.spec.action_space, card.spec.rate_hz) == (SPATIAL, "eef_delta_libero7", 20)
    assert (card.spec.proprioception, card.spec.chunk) == ("", 1)
    assert [(camera.name, camera.height) for camera in card.spec.cameras] == [("agentview", SIDE)]
    assert card.network["centre_crop"] == 0.9


@pytest.mark.parametrize(("opening", "played"), [(0.996, -1.0), (0.6, -1.0), (0.4, 1.0), (0.0, 1.0)])
def test_its_gripper_is_liberos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opening: float, played: float) -> None:
    policy = open_policy(fine_tune(tmp_path / "tuned"))
    assert isinstance(policy, OpenVLAPolicy)
    monkeypatch.setattr(policy, "predict", lambda images, prompts: np.full((1, 7), opening))
    seen = Observation({"agentview": np.zeros((SIDE, SIDE, 3), np.uint8)}, np.zeros(8, np.float32), "pick it up", 0)
    assert policy.infer(seen)[0].tolist() == [*[opening] * 6, played]


def test_a_suite_may_be_asked_for_by_its_name_alone(tmp_path: Path) -> None:
    folder = fine_tune(tmp_path / "tuned", SPATIAL, "libero_goal_no_noops")
    assert describe(folder, "libero_goal").spec.statistics_key == "libero_goal_no_noops"
    with pytest.raises(MissingStatistics, match=f"'libero_10' is missing; known: libero_goal_no_noops, {SPATIAL}"):
        describe(folder, "libero_10")
    with pytest.raises(MissingStatistics, match=f"known: libero_goal_no_noops, {SPATIAL}"):
        describe(folder)


def test_its_suite_goes_before_bridge_where_the_configuration_has_both(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "tuned")
    statistics = {"bridge_orig": {"action": BRIDGE}, "libero_object": {"action": BRIDGE}}
    write_json(folder / "config.json", openvla_json() | {"norm_stats": statistics})
    assert describe(folder).spec.statistics_key == "libero_object"
    assert describe(folder, "bridge_orig").spec.action_space == "eef_delta_bridge7"


def test_a_fine_tune_of_openvla_oft_without_a_head_is_refused_by_its_code(tmp_path: Path) -> None:
    folder = fine_tune(tmp_path / "oft")
    (folder / "modeling_prismatic.py").write_text("from prismatic.vla.constants import ACTION_DIM\n")
    assert describe(folder)
    (folder / "modeling_prismatic.py").write_text("from prismatic.vla.constants import ACTION_DIM, NUM_ACTIONS_CHUNK\n")
    with pytest.raises(BadCard, match=r"modeling_prismatic\.py: a part of OpenVLA-OFT.*bring-your-own-policy"):
        describe(folder)


@pytest.mark.parametrize("area", [0.0, 1.5])
def test_a_centre_crop_is_an_area(tmp_path: Path, area: float) -> None:
    with pytest.raises(BadCard, match=rf"centre_crop: expected an area in \(0, 1\], got {area}"):
        describe(write_openvla(tmp_path / "openvla"), centre_crop=area)


def added(*arguments: Any) -> Policy:
    call_command("add_policy", "mine", *map(str, arguments), stdout=StringIO(), stderr=StringIO())
    return Policy.objects.get(pk="mine")


@pytest.mark.django_db
def test_the_crop_asked_for_is_the_one_that_plays(tmp_path: Path) -> None:
    folder = write_openvla(tmp_path / "openvla")
    whole = added("--weights", folder)
    cropped = added("--weights", folder, "--centre-crop", 0.8)
    assert cropped.card["network"] == {"centre_crop": 0.8}
    assert cropped.revision != whole.revision
    policy = open_player(cropped, Environment("widowx", "table")).policy
    assert isinstance(policy, OpenVLAPolicy)
    assert policy.images.centre_crop == 0.8


@pytest.mark.django_db
def test_a_crop_is_refused_where_it_has_no_meaning(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="a centre crop is of OpenVLA's folders alone"):
        added("--weights", write_octo(tmp_path / "octo"), "--centre-crop", 0.9)
    with pytest.raises(CommandError, match="--centre-crop is about folders"):
        added("--url", "ws://127.0.0.1:9", "--centre-crop", 0.9)
    own = write_openvla(tmp_path / "own")
    write_json(own / "policy.json", describe(own).to_json())
    with pytest.raises(CommandError, match=r"policy\.json says itself which centre crop it takes"):
        added("--weights", own, "--centre-crop", 0.9)


@pytest.mark.django_db
def test_without_libero_it_is_refused_with_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(assets.LIBERO, str(tmp_path / "none"))
    with pytest.raises(CommandError, match=r"not 'eef_delta_libero7'.*is not installed; run: make libero"):
        added("--weights", fine_tune(tmp_path / "tuned"))
    assert not Policy.objects.exists()
