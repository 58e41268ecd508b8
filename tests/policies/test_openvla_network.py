"""OpenVLA's rules that go wrong without any error, each on its own."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from policies.networks.openvla import KeyValueCache, Mlp, OpenVLA, RmsNorm, rotary_tables, rotate
from tests.policies.tiny_networks import SIDE, tiny_openvla


@pytest.fixture
def network() -> OpenVLA:
    return tiny_openvla()


def picture(batch: int = 1) -> Tensor:
    return torch.randn(batch, 6, SIDE, SIDE, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("part", ["norm.weight", "blocks.{last}.attn.proj.weight", "blocks.{last}.mlp.fc2.bias"])
def test_features_come_from_the_last_block_but_one_without_the_final_norm(network: OpenVLA, part: str) -> None:
    before = network.patch_features(picture())
    for tower, depth in (("featurizer", 4), ("fused_featurizer", 3)):
        network.get_parameter(f"vision_backbone.{tower}.{part.format(last=depth - 1)}").mul_(3).add_(1)
    assert torch.equal(before, network.patch_features(picture()))
    network.get_parameter("vision_backbone.featurizer.blocks.2.attn.proj.weight").mul_(3)
    assert not torch.equal(before, network.patch_features(picture()))


def test_class_and_register_tokens_are_read_by_patches_but_not_passed_on(network: OpenVLA) -> None:
    before = network.patch_features(picture())
    assert before.shape == (1, 16, 24 + 32)
    network.get_parameter("vision_backbone.featurizer.reg_token").add_(1)
    after = network.patch_features(picture())
    assert after.shape == before.shape
    assert not torch.equal(before[..., :24], after[..., :24])


def test_the_dino_tower_takes_the_first_three_channels_and_gives_the_first_features(network: OpenVLA) -> None:
    changed = picture()
    changed[:, :3] += 1
    before, after = network.patch_features(picture()), network.patch_features(changed)
    assert not torch.allclose(before[..., :24], after[..., :24])
    assert torch.equal(before[..., 24:], after[..., 24:])


def test_the_pooling_head_of_the_checkpoint_is_not_used(network: OpenVLA) -> None:
    before = network.patch_features(picture())
    network.get_parameter("vision_backbone.fused_featurizer.attn_pool.latent").add_(1)
    assert torch.equal(before, network.patch_features(picture()))


def test_the_activation_is_the_exact_gelu() -> None:
    mlp = Mlp(1, 1)
    for layer in (mlp.fc1, mlp.fc2):
        torch.nn.init.ones_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    x = 1.7
    exact = 0.5 * x * (1 + math.erf(x / math.sqrt(2)))
    assert mlp(torch.tensor([[x]])).item() == pytest.approx(exact, abs=1e-6)
    tanh = torch.nn.functional.gelu(torch.tensor(x), approximate="tanh").item()
    assert abs(exact - tanh) > 1e-4


def test_patches_stand_between_bos_and_the_rest_of_the_text(network: OpenVLA) -> None:
    patches = network.project(network.patch_features(picture()))
    ids = torch.tensor([[1, 7, 9]])
    text = network.language_model.model.embed_tokens(ids)
    sequence = network.embed_prompt(ids, patches)
    assert torch.equal(sequence, torch.cat([text[:, :1], patches, text[:, 1:]], 1))


def test_later_text_does_not_change_earlier_states(network: OpenVLA) -> None:
    patches = network.project(network.patch_features(picture()))
    prompts = torch.tensor([[1, 7]]), torch.tensor([[1, 7, 9]])
    short, long = (network.hidden_states(network.embed_prompt(ids, patches)) for ids in prompts)
    torch.testing.assert_close(short, long[:, :-1], atol=1e-6, rtol=0)


def test_decoding_with_the_cache_equals_reading_everything_again(network: OpenVLA) -> None:
    ids, pixels = torch.tensor([[1, 5, 200, 17]]), picture()
    tokens = network.generate(ids, torch.tensor([4]), pixels, 7)
    text = ids
    for step in range(7):
        again = network(text, pixels)[:, -1].argmax(-1)
        assert again.item() == tokens[0, step].item()
        text = torch.cat([text, again[:, None]], 1)


def test_one_cached_step_gives_the_logits_of_a_whole_pass(network: OpenVLA) -> None:
    ids, pixels = torch.tensor([[1, 5, 200, 17]]), picture()
    patches = network.project(network.patch_features(pixels))
    whole = network.embed_prompt(ids, patches)
    cache = KeyValueCache(network.config.language, 1, 30, whole)
    network.hidden_states(whole[:, :-1], cache)
    step = network.decode_step(ids[:, -1], torch.tensor([whole.shape[1] - 1]), cache)
    torch.testing.assert_close(step, network.logits(network.hidden_states(whole))[:, -1], atol=1e-5, rtol=0)


def test_prompts_of_different_lengths_in_one_batch_decode_as_they_do_alone(network: OpenVLA) -> None:
    prompts = [[1, 5, 200, 17, 44, 300], [1, 8, 120]]
    pixels = picture(2)
    padded = torch.tensor([prompts[0], [*prompts[1], 33, 33, 33]])
    together = network.generate(padded, torch.tensor([6, 3]), pixels, 7)
    for row, prompt in enumerate(prompts):
        alone = network.generate(torch.tensor([prompt]), torch.tensor([len(prompt)]), pixels[row : row + 1], 7)
        assert alone[0].tolist() == together[row].tolist()


def test_decoding_does_not_stop_at_an_end_token(network: OpenVLA, monkeypatch: pytest.MonkeyPatch) -> None:
    end = 2
    favour_end = torch.nn.functional.one_hot(torch.tensor([end]), network.config.language.vocabulary)
    monkeypatch.setattr(network, "logits", lambda hidden: favour_end)
    assert network.generate(torch.tensor([[1, 5]]), torch.tensor([2]), picture(), 7).tolist() == [[end] * 7]


def test_the_choice_is_among_the_whole_padded_vocabulary(network: OpenVLA) -> None:
    ids, pixels, padding = torch.tensor([[1, 5]]), picture(), 330
    hidden = network.hidden_states(network.embed_prompt(ids, network.project(network.patch_features(pixels))))
    network.language_model.lm_head.weight[padding] = 100 * hidden[0, -1]
    assert network.generate(ids, torch.tensor([2]), pixels, 1).item() == padding


def test_the_root_mean_square_is_taken_in_float32() -> None:
    norm = RmsNorm(4, 1e-6)
    x = torch.tensor([300.0, 301.0, 302.0, 303.0], dtype=torch.float16)  # squares overflow float16
    out = norm.half()(x)
    assert out.isfinite().all()
    assert out.float().pow(2).mean().item() == pytest.approx(1, abs=1e-2)


def test_the_epsilon_of_the_configuration_is_used() -> None:
    x = torch.tensor([1e-3, -1e-3])
    assert RmsNorm(2, 1e-6)(x)[0].item() == pytest.approx(1e-3 / math.sqrt(2e-6), rel=1e-5)


def test_rotary_scores_depend_on_distance_alone(network: OpenVLA) -> None:
    config = network.config.language
    q, k = torch.randn(2, 1, 1, 1, config.head_dim, generator=torch.Generator().manual_seed(1)).unbind(0)

    def score(at: int, other: int) -> float:
        tables = (rotary_tables(torch.tensor([[place]]), config, torch.float32) for place in (at, other))
        first, second = (rotate(x, table) for x, table in zip((q, k), tables, strict=True))
        return float((first * second).sum())

    assert score(7, 3) == pytest.approx(score(104, 100), abs=1e-4)
    assert score(7, 3) != pytest.approx(score(3, 7), abs=1e-3)


def test_fewer_key_value_heads_are_shared_among_the_query_heads(network: OpenVLA) -> None:
    text = {"vocab_size": 336, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3,
            "num_attention_heads": 4, "num_key_value_heads": 2}  # fmt: skip
    shared = tiny_openvla(text_config=text)
    for own, other in zip(network.language_model.model.layers, shared.language_model.model.layers, strict=True):
        for name in ("q_proj", "o_proj"):
            other.self_attn.get_submodule(name).weight.copy_(own.self_attn.get_submodule(name).weight)
        for name in ("k_proj", "v_proj"):  # heads of 12 rows: each of the two is used twice
            rows = other.self_attn.get_submodule(name).weight.view(2, 12, 48).repeat_interleave(2, 0)
            own.self_attn.get_submodule(name).weight.copy_(rows.reshape(48, 48))
    ids, pixels = torch.tensor([[1, 5, 200]]), picture()
    torch.testing.assert_close(network(ids, pixels), shared(ids, pixels), atol=1e-5, rtol=0)
    lengths = torch.tensor([3])
    assert network.generate(ids, lengths, pixels, 4).tolist() == shared.generate(ids, lengths, pixels, 4).tolist()


def test_everything_runs_in_bfloat16_near_to_float32(network: OpenVLA) -> None:
    small = tiny_openvla().to(torch.bfloat16)
    ids, pixels = torch.tensor([[1, 5, 200]]), picture()
    wide, narrow = network(ids, pixels), small(ids, pixels.bfloat16())
    assert narrow.dtype == torch.float32  # logits always
    assert (wide - narrow).abs().mean() < 0.1
    assert small.generate(ids, torch.tensor([3]), pixels.bfloat16(), 7).shape == (1, 7)
