"""Octo's rules that go wrong without any error, each on its own."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from policies.networks.diffusion import DiffusionHead, FourierFeatures
from policies.networks.flax_layers import Dense, GroupNorm, LayerNorm, StdConv
from policies.networks.octo import MlpBlock, Octo, OctoObservation, OctoTask, Transformer
from policies.networks.octo_sizes import HeadConfig, Schedule, StemConfig, T5Config
from policies.networks.t5 import relative_buckets
from tests.policies.tiny_networks import tiny_octo


@pytest.fixture
def network() -> Octo:
    return tiny_octo()


def seeded(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def observation(window: int = 2, seed: int = 0) -> OctoObservation:
    images = torch.randint(0, 256, (1, window, 48, 64, 3), generator=torch.Generator().manual_seed(seed))
    return OctoObservation({"primary": images.to(torch.uint8)}, torch.ones(1, window, dtype=torch.bool))


# ---- pictures ------------------------------------------------------------------------------------------------------


def test_filters_are_standardised_over_height_width_and_input_and_the_bias_is_kept() -> None:
    conv = StdConv(6, 32, kernel=3, stride=2, padding=1)
    torch.nn.init.normal_(conv.kernel, mean=4.0, std=3.0)
    torch.nn.init.constant_(conv.bias, 0.5)
    weight = conv.weight()
    values = conv.kernel[..., 5].flatten()
    expected = (values - values.mean()) / (((values - values.mean()) ** 2).mean().sqrt() + 1e-5)
    torch.testing.assert_close(weight[..., 5].flatten(), expected)
    torch.testing.assert_close(conv(torch.zeros(1, 6, 8, 8)), torch.full((1, 32, 4, 4), 0.5))


def test_a_kernel_of_equal_numbers_becomes_zero_and_not_infinite() -> None:
    conv = StdConv(3, 32, kernel=3, stride=1)
    torch.nn.init.ones_(conv.kernel)
    assert not conv.weight().any()


def test_group_normalisation_has_the_small_epsilon_of_flax() -> None:
    x = 1e-3 * seeded(1, 32, 1, 2)
    pairs = x.flatten()[:2]
    expected = (pairs[0] - pairs.mean()) / math.sqrt(pairs.var(correction=0).item() + 1e-6)
    assert GroupNorm(32, groups=32)(x)[0, 0, 0, 0].item() == pytest.approx(expected.item(), rel=1e-4)


def test_layer_normalisation_has_the_small_epsilon_of_flax() -> None:
    assert LayerNorm(2)(torch.tensor([1e-3, -1e-3]))[0].item() == pytest.approx(1e-3 / math.sqrt(2e-6), rel=1e-5)


def test_without_a_goal_its_channels_are_zero_before_scaling(network: Octo) -> None:
    images = observation().images["primary"]
    black = torch.zeros(1, 48, 64, 3, dtype=torch.uint8)
    grey = torch.full((1, 48, 64, 3), 128, dtype=torch.uint8)
    assert torch.equal(network.image_tokens("primary", images), network.image_tokens("primary", images, black))
    assert not torch.equal(network.image_tokens("primary", images), network.image_tokens("primary", images, grey))


def test_the_picture_comes_before_the_goal(network: Octo) -> None:
    images = observation(window=1).images["primary"]
    goal = torch.zeros(1, 48, 64, 3, dtype=torch.uint8)
    swapped = network.image_tokens("primary", goal[:, None], images[:, 0])
    assert not torch.allclose(network.image_tokens("primary", images, goal), swapped)


def test_pixels_are_scaled_to_one_around_the_middle() -> None:
    stem = tiny_octo().octo_transformer.get_submodule("observation_tokenizers_primary.SmallStem16_0")
    seen: list[Tensor] = []
    stem.get_submodule("StdConv_0").register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    stem(torch.tensor([0.0, 127.5, 255.0] * 2).expand(1, 48, 64, 6))
    assert seen[0][0, :3, 0, 0].tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize(("length", "patch", "cells"), [(256, 16, 16), (128, 16, 8), (256, 32, 8), (100, 16, 7)])
def test_tokens_along_a_side_follow_from_the_convolutions(length: int, patch: int, cells: int) -> None:
    assert StemConfig(patch=patch).cells(length) == cells


def test_tokens_run_row_by_row(network: Octo) -> None:
    images = torch.zeros(1, 1, 48, 64, 3)
    changed = images.clone()
    changed[:, :, 40:, :8] = 255  # bottom left: the third of three rows of four
    moved = (network.image_tokens("primary", images) != network.image_tokens("primary", changed)).any(-1)[0, 0]
    stems = (network.image_tokens("primary", changed) - network.image_tokens("primary", images)).abs().sum(-1)[0, 0]
    assert moved.any()
    assert stems.argmax().item() == 8


# ---- text ----------------------------------------------------------------------------------------------------------


def test_relative_positions_of_the_text_fall_into_t5s_buckets() -> None:
    config = T5Config(64, dim=8, head_dim=4, mlp=8, layers=1, heads=2)
    distances = torch.tensor([0, -1, -7, -8, -11, -12, -127, -500, 1, 7, 8, 500])
    expected = [0, 1, 7, 8, 8, 9, 15, 15, 17, 23, 24, 31]
    assert relative_buckets(distances, config).tolist() == expected


def test_the_text_encoder_hides_padding_from_words(network: Octo) -> None:
    present = torch.tensor([[True, True, True, False, False, False]])
    ids = torch.tensor([[5, 9, 1, 0, 0, 0]])
    other = torch.tensor([[5, 9, 1, 33, 34, 35]])
    first, second = (network.encode_text(text, present) for text in (ids, other))
    torch.testing.assert_close(first[:, :3], second[:, :3], atol=1e-6, rtol=0)


def test_scores_of_the_text_encoder_are_not_scaled(network: Octo) -> None:
    attention = network.octo_transformer.get_submodule(
        "task_tokenizers_language.hf_model.encoder.block.1.layer.0.SelfAttention"
    )
    x, bias = seeded(1, 3, 24), torch.zeros(1, 4, 3, 3)
    split = [(x @ attention.get_parameter(f"{name}.kernel")).view(1, 3, 4, 6).transpose(1, 2) for name in "qkv"]
    weights = (split[0] @ split[1].transpose(2, 3)).softmax(-1)
    expected = (weights @ split[2]).transpose(1, 2).reshape(1, 3, 24) @ attention.get_parameter("o.kernel")
    torch.testing.assert_close(attention(x, bias), expected)


def test_the_transformer_reads_padded_text_positions_too(network: Octo) -> None:
    text = seeded(1, 6, 24)
    changed = text.clone()
    changed[:, 5] += 1  # a position of padding
    first, second = (network(observation(), OctoTask(states))["readout_action"] for states in (text, changed))
    assert not torch.allclose(first, second)


def test_a_frozen_text_encoder_gets_no_gradient(network: Octo) -> None:
    network.requires_grad_(True)
    states = network.encode_text(torch.tensor([[5, 9, 1, 0, 0, 0]]), torch.tensor([[True] * 3 + [False] * 3]))
    assert not states.requires_grad


# ---- sequence ------------------------------------------------------------------------------------------------------


def test_repeated_task_tokens_are_the_prefix_with_its_positions(network: Octo) -> None:
    prefix, timestep = network.token_groups(observation(), OctoTask(seeded(1, 6, 24)))
    repeated = next(group for group in timestep if group.name == "obs_task_language")
    for step in (0, 1):
        assert torch.equal(repeated.tokens[:, step], prefix[0].tokens)


def test_positions_differ_between_frames_and_start_at_the_first(network: Octo) -> None:
    same = observation(window=1).images["primary"].expand(-1, 2, -1, -1, -1)
    _, timestep = network.token_groups(
        OctoObservation({"primary": same}, torch.ones(1, 2, dtype=torch.bool)), OctoTask(None)
    )
    table = network.octo_transformer.positions("obs_primary")[0]
    torch.testing.assert_close(
        timestep[0].tokens[0, 1] - timestep[0].tokens[0, 0], table[1] - table[0], atol=1e-5, rtol=0
    )
    readout = next(group for group in timestep if group.name == "readout_action")
    assert torch.equal(readout.tokens[0], network.octo_transformer.positions("readout_action")[0, :2])


def test_what_pads_the_window_does_not_matter(network: Octo) -> None:
    text = OctoTask(seeded(1, 6, 24))
    shown = torch.tensor([[False, True]])
    results = []
    for seed in (1, 2):
        images = observation(seed=3).images["primary"].clone()
        images[:, 0] = observation(seed=seed).images["primary"][:, 0]
        results.append(network(OctoObservation({"primary": images}, shown), text)["readout_action"][:, 1])
    torch.testing.assert_close(*results, atol=1e-5, rtol=0)


def test_a_camera_switched_off_is_as_good_as_one_never_seen_by_its_content(network: Octo) -> None:
    flags = {"wrist": torch.zeros(1, 2, dtype=torch.bool)}
    results = []
    for value in (0, 200):
        wrist = torch.full((1, 2, 32, 32, 3), value, dtype=torch.uint8)
        images = {**observation().images, "wrist": wrist}
        seen = OctoObservation(images, torch.ones(1, 2, dtype=torch.bool), flags)
        results.append(network(seen, OctoTask(None))["readout_action"])
    torch.testing.assert_close(*results, atol=1e-5, rtol=0)


def test_a_row_that_may_see_nothing_looks_at_everything_alike_instead_of_failing(network: Octo) -> None:
    transformer: Transformer = network.octo_transformer.BlockTransformer_0.Transformer_0  # type: ignore[assignment]
    attention = transformer.get_submodule("encoderblock_0.MultiHeadDotProductAttention_0")
    x = seeded(1, 4, 32)
    mask = torch.ones(1, 1, 4, 4, dtype=torch.bool)
    mask[..., 2, :] = False
    assert transformer(x, mask).isfinite().all()
    hidden = torch.zeros(1, 1, 4, 4).masked_fill(~mask, torch.finfo(torch.float32).min)
    value = attention.get_submodule("value")(x).mean(1)
    torch.testing.assert_close(attention(x, hidden)[:, 2], attention.get_submodule("out")(value), atol=1e-5, rtol=0)


def test_the_transformers_activation_is_the_tanh_gelu() -> None:
    block = MlpBlock(1, 1)
    torch.nn.init.ones_(block.Dense_0.kernel)
    torch.nn.init.ones_(block.Dense_1.kernel)
    x = 1.7
    tanh = 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    assert block(torch.tensor([[x]])).item() == pytest.approx(tanh, abs=1e-6)
    assert abs(tanh - 0.5 * x * (1 + math.erf(x / math.sqrt(2)))) > 1e-4


def test_heads_of_a_dense_kernel_keep_their_axis() -> None:
    dense = Dense((4,), (2, 3))
    x = seeded(5, 4)
    expected = torch.einsum("bi,iho->bho", x, dense.kernel) + dense.bias
    torch.testing.assert_close(dense(x), expected.flatten(1))


# ---- head ----------------------------------------------------------------------------------------------------------


def test_the_head_reads_the_mean_over_its_readouts_tokens(network: Octo) -> None:
    outputs = {"readout_action": seeded(1, 2, 2, 32)}
    torch.testing.assert_close(network.readout(outputs), outputs["readout_action"].sum(2) / 2)


def test_time_becomes_cosines_and_then_sines() -> None:
    features = FourierFeatures(8)
    time = torch.tensor([[3.0]])
    angles = 2 * math.pi * 3.0 * features.kernel[:, 0]
    torch.testing.assert_close(features(time)[0], torch.cat([angles.cos(), angles.sin()]))


def test_the_schedule_is_the_squared_cosine_with_betas_clipped() -> None:
    schedule = Schedule.cosine(20)
    share = [math.cos((step / 20 + 0.008) / 1.008 * math.pi / 2) ** 2 for step in range(21)]
    betas = [min(1 - after / before, 0.999) for before, after in pairwise(share)]
    assert schedule.betas == pytest.approx(betas, abs=2e-6)
    assert schedule.betas[-1] == pytest.approx(0.999)
    assert schedule.remaining == pytest.approx(np.cumprod(1 - schedule.betas), rel=1e-4)
    assert (np.diff(schedule.remaining) < 0).all()


HEAD = HeadConfig("readout_action", action_dim=7, horizon=2, hidden=32, time_dim=8, blocks=1)


@pytest.fixture
def head() -> DiffusionHead:
    torch.manual_seed(0)
    return DiffusionHead(HEAD, 16)


def test_one_step_removes_predicted_noise_by_the_ddpm_rule(head: DiffusionHead) -> None:
    head.config = replace(HEAD, steps=1)  # the last of the 20
    first, later = 0.1 * seeded(1, 14), seeded(1, 1, 14, seed=1)
    noise = head.predict_noise(torch.ones(1, 16), first, torch.zeros(1, 1))
    beta = float(head.schedule.betas[0])
    expected = (first - beta / math.sqrt(beta) * noise) / math.sqrt(1 - beta)  # 1 - remaining is beta at the first step
    found = head.sample(torch.ones(1, 16), first, later).flatten(1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)


def test_no_noise_is_added_at_the_last_step_and_some_at_each_other(head: DiffusionHead) -> None:
    head.config = replace(HEAD, max_action=1e9)
    embedding, first, later = seeded(1, 16), seeded(1, 14), seeded(20, 1, 14, seed=1)
    usual = head.sample(embedding, first, later)
    for step in range(20):
        changed = later.clone()
        changed[step] += 0.5
        assert torch.equal(head.sample(embedding, first, changed), usual) == (step == 19)


def test_actions_are_clipped_at_every_step(head: DiffusionHead) -> None:
    actions = head.sample(seeded(3, 16), 100 * seeded(3, 14), 100 * seeded(20, 3, 14, seed=1))
    assert actions.abs().max() <= 5.0
    assert actions.shape == (3, 2, 7)


def test_the_same_noise_gives_the_same_actions_and_other_noise_others(head: DiffusionHead) -> None:
    embedding, later = seeded(1, 16), seeded(20, 1, 14, seed=1)
    first = [head.sample(embedding, seeded(1, 14, seed=seed), later) for seed in (1, 1, 2)]
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], first[2])


def test_only_the_last_frame_of_the_window_is_answered(network: Octo) -> None:
    outputs = {"readout_action": seeded(1, 2, 2, 32)}
    first, later = seeded(1, 2, 21), seeded(20, 1, 2, 21, seed=1)
    actions = network.sample(outputs, first, later)
    assert actions.shape == (1, 3, 7)
    outputs["readout_action"][:, 0] += 1
    first[:, 0] += 1
    later[:, :, 0] += 1
    assert torch.equal(network.sample(outputs, first, later), actions)


def test_the_loss_is_the_masked_mean_square_of_the_noise_times_the_action_dimensions(head: DiffusionHead) -> None:
    embedding, actions, noise = seeded(2, 1, 16), 9 * seeded(2, 1, 14), seeded(2, 1, 14, seed=1)
    time = torch.tensor([[[3]], [[11]]])
    mask = torch.ones(2, 1, 14, dtype=torch.bool)
    mask[1] = False
    signal = float(head.schedule.remaining[3])
    noisy = math.sqrt(signal) * actions.clamp(-5, 5) + math.sqrt(1 - signal) * noise
    error = (head.predict_noise(embedding[:1], noisy[:1], time[:1].float()) - noise[:1]) ** 2
    found = head.loss(embedding, actions, mask, time, noise)
    torch.testing.assert_close(found, error.mean() * 7, atol=1e-4, rtol=1e-4)


def test_everything_runs_in_bfloat16_near_to_float32(network: Octo) -> None:
    small = tiny_octo().to(torch.bfloat16)
    ids, present = torch.tensor([[5, 9, 1, 0, 0, 0]]), torch.tensor([[True] * 3 + [False] * 3])
    first, later = seeded(1, 2, 21), seeded(20, 1, 2, 21, seed=1)
    found = [net(observation(), OctoTask(net.encode_text(ids, present)))["readout_action"] for net in (network, small)]
    assert found[1].dtype == torch.bfloat16
    assert (found[0] - found[1]).abs().mean() < 0.1
    actions = small.sample({"readout_action": found[1]}, first, later)
    assert actions.dtype == torch.float32
    assert actions.isfinite().all()
