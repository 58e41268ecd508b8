"""What is particular to Octo and OpenVLA as ONNX Runtime computes them: noise, text and what only torch plays."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.base import OpenedPolicy
from policies.folder import CARD, CONFIG, PREPROCESSOR, read_json, write_json, write_sums
from policies.networks import t5
from policies.networks.octo_sizes import T5Config
from policies.networks.openvla import rotary_tables as torch_tables
from policies.networks.openvla_sizes import LanguageConfig
from policies.octo.exported import ExportedOctoPolicy
from policies.octo.graph import relative_buckets
from policies.octo.noise import TorchNoise
from policies.octo.policy import OctoPolicy
from policies.openvla.exported import ExportedOpenVLAPolicy
from policies.openvla.graph import rotary_tables
from policies.openvla.policy import OpenVLAPolicy
from policies.reference import TOLERANCE, open_with_torch, write_reference
from policies.registry import open_policy
from tests.policies.tiny_networks import SIDE, openvla_json, preprocessor_json, write_openvla

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "weights"
TEXT = "pick up the red cube"


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """A copy of octo-mini that draws its noise, as published."""
    folder = Path(shutil.copytree(SHIPPED / "octo-mini", tmp_path / "noisy"))
    card = read_json(folder, CARD)
    write_json(folder / CARD, card | {"network": {**card["network"], "temperature": 1.0}})
    write_sums(folder)
    return folder


def played(policy: OpenedPolicy, seed: int, steps: int = 4) -> np.ndarray:
    policy.reset(TEXT, seed)
    return np.array([policy.infer(policy.spec.grey_observation(TEXT)) for _ in range(steps)])


@pytest.mark.parametrize("seed", [0, 1, 2**31 + 7, 2**40 + 3])
def test_the_noise_is_what_torch_draws_from_the_same_seed(seed: int) -> None:
    here, by_torch = TorchNoise(seed), torch.Generator().manual_seed(seed)
    for shape in ((1, 28), (20, 1, 28), (16,), (3, 7)):
        assert here.draw(*shape) == pytest.approx(torch.randn(shape, generator=by_torch).numpy(), abs=2e-6)


def test_noise_of_a_few_numbers_which_torch_draws_in_another_way_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16"):
        TorchNoise(0).draw(7)


def test_a_policy_with_noise_answers_what_torch_does_for_every_seed(noisy: Path) -> None:
    write_reference(noisy)
    here, by_torch = open_policy(noisy), open_with_torch(noisy)
    assert isinstance(here, ExportedOctoPolicy)
    for seed in (1, 2):
        assert played(here, seed) == pytest.approx(played(by_torch, seed), abs=TOLERANCE)
        assert np.array_equal(played(here, seed), played(here, seed))
    assert not np.array_equal(played(here, 1), played(here, 2))


def test_torch_plays_a_temperature_for_which_no_answers_are_kept(noisy: Path) -> None:
    assert isinstance(open_policy(noisy), OctoPolicy)


def test_each_action_of_openvla_is_that_of_torch_for_prompts_of_every_length() -> None:
    here, by_torch = open_policy(SHIPPED / "openvla-mini"), open_with_torch(SHIPPED / "openvla-mini")
    assert isinstance(here, ExportedOpenVLAPolicy)
    grey = here.spec.grey_observation("")
    for words in (0, 1, 5, 40, 400):
        look = replace(grey, instruction=" ".join(["cube"] * words))
        assert np.array_equal(here.infer(look), by_torch.infer(look))


@pytest.mark.parametrize("towers", [1, 2])
def test_a_published_openvla_that_is_small_is_played_alike_once_torchs_answers_are_kept(
    tmp_path: Path, towers: int
) -> None:
    """With class token, registers and scales of layers, an unused pooling head, and a token that ends each prompt."""
    folder = write_openvla(tmp_path, shards=1, vision_towers=openvla_json()["vision_towers"][:towers])
    write_json(folder / PREPROCESSOR, preprocessor_json(input_sizes=[[3, SIDE, SIDE]] * towers))
    write_reference(folder)
    here, by_torch = open_policy(folder), open_with_torch(folder)
    assert isinstance(here, ExportedOpenVLAPolicy)
    assert np.array_equal(played(here, 0), played(by_torch, 0))


def test_torch_plays_heads_that_share_keys_and_values(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = write_openvla(tmp_path, shards=1, text_config={**openvla_json()["text_config"], "num_key_value_heads": 2})
    write_reference(folder)
    assert isinstance(open_policy(folder), OpenVLAPolicy)
    assert "torch tries" in caplog.text


def test_torch_plays_the_attention_of_octos_first_release(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = Path(shutil.copytree(SHIPPED / "octo-mini", tmp_path / "other"))
    config = read_json(folder, CONFIG)
    config["model"]["use_correct_attention"] = False
    write_json(folder / CONFIG, config)
    write_sums(folder)
    assert isinstance(open_policy(folder), OctoPolicy)
    assert "torch tries" in caplog.text


@pytest.mark.parametrize("most", [16, 128])
def test_distances_between_words_have_torchs_buckets(most: int) -> None:
    config = T5Config(512, 128, 32, 256, 2, 4, max_distance=most)
    distances = np.arange(-300, 301)
    assert np.array_equal(
        relative_buckets(distances, config), t5.relative_buckets(torch.from_numpy(distances), config).numpy()
    )


def test_places_are_turned_as_torch_turns_them() -> None:
    config = LanguageConfig(576, 128, 352, 5, 4, 4, 10000.0, 1e-6, 256)
    cosines, sines = rotary_tables(250, config)
    expected = [table[0, 0].numpy() for table in torch_tables(torch.arange(250)[None], config, torch.float32)]
    half = config.head_dim // 2
    assert cosines == pytest.approx(expected[0], abs=2e-5)
    assert np.concatenate([-sines[:, :half], sines[:, half:]], 1) == pytest.approx(expected[1], abs=2e-5)
