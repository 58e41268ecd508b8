"""OpenVLA's forward pass for training: one picture with several instructions.

Pictures come before text and the mask is causal, so the image tokens do not depend on the instruction. K instructions
with their actions are K suffixes that share them: each sees BOS, the patches and itself, at the positions it would have
alone. The results equal K separate passes through `OpenVLA` (tests/policies/test_openvla_packed.py). Attention is
written out, because in bfloat16 on a CPU its backward pass is several times as fast as that of fused attention, and
because a loss needs its weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor

from policies.networks.openvla import (
    LlamaLayer,
    OpenVLA,
    RmsNorm,
    TowerAttention,
    TowerBlock,
    VisionTower,
    rotary_tables,
    rotate,
)


@dataclass(frozen=True)
class Suffixes:
    """ids (B, K, L): prompt without BOS, then action tokens, then padding. answers (B, K, A): index in L of the tokens
    after which an action token is predicted: the last of the prompt and all actions but the last."""

    ids: Tensor
    answers: Tensor


@dataclass(frozen=True)
class PackedOutput:
    """hidden (B, K, A, dim): after the last norm, at the answers. attention (B, K, heads, A, P): log attention of the
    answers to the patches in the watched layer, whose softmax includes BOS and text.
    """

    hidden: Tensor
    attention: Tensor


def tower_features(network: OpenVLA, pixels: Tensor) -> Tensor:
    """As `OpenVLA.patch_features`: (B, 3 per tower, H, W) -> (B, P, vision_dim)."""
    backbone = network.vision_backbone
    first = _tower(backbone.featurizer, pixels[:, :3])
    if backbone.fused_featurizer is None:
        return first
    return torch.cat([first, _tower(backbone.fused_featurizer, pixels[:, 3:])], 2)


def _tower(tower: VisionTower, image: Tensor) -> Tensor:
    config = tower.config
    embed, side = tower.patch_embed.proj, config.patch
    b, c, h, w = image.shape
    cut = image.view(b, c, h // side, side, w // side, side).permute(0, 2, 4, 1, 3, 5)
    x = F.linear(cut.reshape(b, config.patches, -1), embed.weight.flatten(1), embed.bias)
    x = x + tower.pos_embed.to(x.dtype)
    prefix = [token.to(x.dtype).expand(b, -1, -1) for token in (tower.cls_token, tower.reg_token) if token is not None]
    x = torch.cat([*prefix, x], 1)
    for block in cast(list[TowerBlock], list(tower.blocks)[:-1]):
        x = x + block.ls1(_tower_attention(block.attn, block.norm1(x)))
        x = x + block.ls2(block.mlp(block.norm2(x)))
    return x[:, config.prefix :]


def _tower_attention(module: TowerAttention, x: Tensor) -> Tensor:
    b, n, d = x.shape
    q, k, v = module.qkv(x).view(b, n, 3, module.heads, d // module.heads).permute(2, 0, 3, 1, 4)
    weights = ((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)).softmax(-1)
    mixed: Tensor = module.proj((weights.to(v.dtype) @ v).transpose(1, 2).reshape(b, n, d))
    return mixed


def packed_forward(network: OpenVLA, features: Tensor, suffixes: Suffixes, watch: int) -> PackedOutput:
    """`features`: of the towers. `watch`: the layer whose attention is returned, not the last one."""
    model, config = network.language_model.model, network.config
    b, k, length = suffixes.ids.shape
    patches = network.project(features)
    bos = model.embed_tokens.weight[config.bos_id].to(patches.dtype).expand(b, 1, -1)
    prefix = torch.cat([bos, patches], 1)
    text = model.embed_tokens(suffixes.ids.flatten(0, 1)).to(patches.dtype)  # (B * K, L, dim)
    pack = _Pack(b, k, prefix.shape[1], length)
    cosines, sines = rotary_tables(pack.places(text.device), config.language, text.dtype)
    x = torch.cat([prefix.flatten(0, 1), text.flatten(0, 1)])  # every token of the batch, (B * P + B * K * L, dim)
    attention = x
    layers = cast(list[LlamaLayer], list(model.layers))
    for index, layer in enumerate(layers[:-1]):
        mixed, seen = _attend(pack, *_project(layer, x, cosines, sines))
        x = _finish(layer, x, mixed)
        if index == watch:
            attention = seen
    # Only the answers are read from the last layer, so the rest ends at its attention.
    mixed, _ = _attend(pack, *_project(layers[-1], x, cosines, sines))
    answers = pack.rows(suffixes.answers)
    hidden = _rms_norm(model.norm, _finish(layers[-1], x[answers], mixed[answers]))
    wanted = suffixes.answers[:, :, None, :, None].expand(-1, -1, attention.shape[2], -1, attention.shape[-1])
    log_odds = attention.gather(3, wanted)[..., 1:]  # without BOS
    return PackedOutput(hidden.view(b, k, -1, config.language.dim), log_odds)


@dataclass(frozen=True)
class _Pack:
    """The layout of the flat rows of tokens: B prefixes of `prefix` tokens, then B * K suffixes of `length`."""

    pictures: int
    instructions: int
    prefix: int
    length: int

    def places(self, device: torch.device) -> Tensor:
        """The position of every row in its own sequence, (1, rows)."""
        first = torch.arange(self.prefix, device=device).repeat(self.pictures)
        second = torch.arange(self.prefix, self.prefix + self.length, device=device)
        return torch.cat([first, second.repeat(self.pictures * self.instructions)])[None]

    def rows(self, answers: Tensor) -> Tensor:
        """Flat row numbers of (B, K, A) indices within the suffixes."""
        count = self.pictures * self.instructions
        starts = torch.arange(count, device=answers.device).view(self.pictures, self.instructions, 1) * self.length
        return (self.pictures * self.prefix + starts + answers).flatten()

    def split(self, x: Tensor, heads: int) -> tuple[Tensor, Tensor]:
        """(rows, dim) -> prefixes (B, heads, P, hd) and suffixes (B, heads, K, L, hd)."""
        border = self.pictures * self.prefix
        first = x[:border].view(self.pictures, self.prefix, heads, -1).transpose(1, 2)
        second = x[border:].view(self.pictures, self.instructions, self.length, heads, -1)
        return first, second.permute(0, 3, 1, 2, 4)


def _attend(pack: _Pack, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """q, k, v (rows, heads, hd) -> (rows, heads * hd), and the suffixes' log attention to their prefixes
    (B, K, heads, L, P)."""
    heads = q.shape[1]
    (pq, tq), (pk, tk), (pv, tv) = (pack.split(x.flatten(1), heads) for x in (q, k, v))
    alone = (pq @ pk.transpose(-1, -2) + _causal(pack.prefix, pq)).softmax(-1).to(pv.dtype) @ pv
    b, _, kk, length, hd = tq.shape
    to_prefix = (tq.reshape(b, heads, kk * length, hd) @ pk.transpose(-1, -2)).view(b, heads, kk, length, -1)
    to_self = tq @ tk.transpose(-1, -2) + _causal(length, tq)
    log_odds = torch.cat([to_prefix, to_self], -1).float().log_softmax(-1)
    weights = log_odds.exp().to(tv.dtype)
    away = weights[..., : pack.prefix].reshape(b, heads, kk * length, -1) @ pv
    mixed = away.view(b, heads, kk, length, hd) + weights[..., pack.prefix :] @ tv
    flat = [alone.transpose(1, 2).reshape(-1, heads * hd), mixed.permute(0, 2, 3, 1, 4).reshape(-1, heads * hd)]
    return torch.cat(flat), log_odds[..., : pack.prefix].transpose(1, 2)


def _project(layer: LlamaLayer, x: Tensor, cosines: Tensor, sines: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rotated and scaled queries, rotated keys, values: each (rows, heads, hd), from one product of matrices."""
    module = layer.self_attn
    config = module.config
    weight = torch.cat([module.q_proj.weight, module.k_proj.weight, module.v_proj.weight])
    found = F.linear(_rms_norm(layer.input_layernorm, x), weight).view(len(x), -1, config.head_dim)
    q, k, v = torch.split(found, [config.heads, config.kv_heads, config.kv_heads], 1)
    tables = cosines.view(len(x), 1, -1), sines.view(len(x), 1, -1)
    q, k = rotate(q, tables) * config.head_dim**-0.5, rotate(k, tables)
    groups = config.heads // config.kv_heads
    return (q, k, v) if groups == 1 else (q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1))


def _finish(layer: LlamaLayer, x: Tensor, mixed: Tensor) -> Tensor:
    mlp = layer.mlp
    x = x + layer.self_attn.o_proj(mixed)
    normed = _rms_norm(layer.post_attention_layernorm, x)
    gate, up = F.linear(normed, torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])).chunk(2, -1)
    out: Tensor = x + mlp.down_proj(F.silu(gate) * up)
    return out


def _rms_norm(norm: RmsNorm, x: Tensor) -> Tensor:
    return F.rms_norm(x, (x.shape[-1],), norm.weight.to(x.dtype), norm.eps)


def _causal(length: int, like: Tensor) -> Tensor:
    return torch.full((length, length), float("-inf"), dtype=like.dtype, device=like.device).triu(1)
