"""OpenVLA's action tokens in less time: the network and the tokens of `OpenVLA.generate`, with other bookkeeping.

Query, key and value weights are one matrix, gate and up another; the last layer computes only the position that is
read; a decode step writes to a place in the cache that is known beforehand. From pixels to the last token nothing waits
for the device, so that on CUDA all of it is one graph. Hidden states differ from the plain way's by rounding alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.openvla import LlamaLayer, OpenVLA, rotary_tables
from policies.networks.replay import Replay, empty_cache
from policies.networks.vision_fast import FastTower

GRAPH_LENGTHS = 16  # on CUDA prompts are padded to multiples of this: one recorded graph serves several lengths
ALIGNED_PLACES = 8  # attention kernels read a mask in pieces of this many places


def fuse(layers: Sequence[nn.Linear]) -> Tensor:
    """One weight (sum of outputs, inputs) of layers without bias.

    A frozen network's own weights become views of it, under their names, so that nothing is held twice; one that is
    still in training keeps its tensors.
    """
    joint = torch.cat([layer.weight.detach() for layer in layers])
    if not any(layer.weight.requires_grad for layer in layers):
        for layer, rows in zip(layers, torch.split(joint, [layer.out_features for layer in layers]), strict=True):
            layer.weight = nn.Parameter(rows, requires_grad=False)
    if joint.is_cuda:
        empty_cache()  # what was freed is in pieces too small for the next layer's matrix
    return joint


class FusedLayer:
    """A Llama layer's weights as they are used here."""

    def __init__(self, layer: LlamaLayer) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self.qkv = fuse([attention.q_proj, attention.k_proj, attention.v_proj])
        self.gate_up = fuse([mlp.gate_proj, mlp.up_proj])
        self.out, self.down = attention.o_proj.weight.detach().t(), mlp.down_proj.weight.detach().t()
        self.norm1, self.norm2 = layer.input_layernorm.weight.detach(), layer.post_attention_layernorm.weight.detach()


class Places:
    """The cache of one call: `prompt` places as the prompt has them, padding included, then one per further token.

    With `lengths` (B,) some rows' prompts end in padding, which later tokens must not see; without, none do.
    """

    def __init__(self, shape: tuple[int, int, int, int], count: int, like: Tensor, lengths: Tensor | None) -> None:
        batch, heads, self.prompt, size = shape
        total = self.prompt + count - 1
        self.biases: Tensor | None = None
        if lengths is not None:
            total = -(-total // ALIGNED_PLACES) * ALIGNED_PLACES
            self.biases = self._hide(total, count, lengths, like)
        self._shape = (batch, heads, total, size)
        self._like = like
        self.layers: list[tuple[Tensor, Tensor]] = []

    def _hide(self, total: int, count: int, lengths: Tensor, like: Tensor) -> Tensor:
        """(count, B, 1, 1, total): what is added to the scores of the token read first, second and so on."""
        place = torch.arange(total, device=like.device)
        step = torch.arange(count, device=like.device)[:, None, None]
        seen = (place < lengths[None, :, None]) | ((place >= self.prompt) & (place < self.prompt + step))
        return torch.zeros_like(seen, dtype=like.dtype).masked_fill(~seen, -torch.inf)[:, :, None, None]

    def add_layer(self, keys: Tensor, values: Tensor) -> None:
        """A layer's keys and values of the whole prompt, (B, heads, prompt, size)."""
        room = self._like.new_zeros((2, *self._shape))  # zeros: what is hidden is still multiplied, by nothing
        room[0, :, :, : self.prompt], room[1, :, :, : self.prompt] = keys, values
        self.layers.append((room[0], room[1]))

    def add_token(self, layer: int, step: int, key: Tensor, value: Tensor) -> None:
        """(B, heads, size) of the `step`-th token after the prompt, from 1."""
        keys, values = self.layers[layer]
        keys[:, :, self.prompt + step - 1], values[:, :, self.prompt + step - 1] = key, value

    def attend(self, layer: int, step: int, query: Tensor) -> Tensor:
        """(B, query heads, size) of the prompt's end (step 0) or a later token -> what it sees, alike."""
        keys, values = self.layers[layer]
        bias = None if self.biases is None else self.biases[step]
        if bias is None:
            keys, values = keys[:, :, : self.prompt + step], values[:, :, : self.prompt + step]
        shared = query.shape[1] != keys.shape[1]
        return F.scaled_dot_product_attention(query[:, :, None], keys, values, bias, enable_gqa=shared)[:, :, 0]


@dataclass(frozen=True)
class Rotation:
    """Rotary positions as two factors (places, head_dim): the sines carry the sign of the half that they meet."""

    cosines: Tensor
    sines: Tensor

    def at(self, places: Tensor | slice) -> Rotation:
        """For one head axis before the places': (..., 1, head_dim) by index, (length, head_dim) by slice."""
        if isinstance(places, slice):
            return Rotation(self.cosines[places], self.sines[places])
        return Rotation(self.cosines[places][:, None], self.sines[places][:, None])

    def turn(self, x: Tensor) -> Tensor:
        return torch.addcmul(x * self.cosines, x.roll(x.shape[-1] // 2, -1), self.sines)


class FastOpenVLA:
    """Made from a loaded network. Weights changed in place later are followed; replaced ones are not."""

    def __init__(self, network: OpenVLA) -> None:
        self.network, self.config = network, network.config
        language, sizes = network.language_model, network.config.language
        self.head, self.norm = language.lm_head.weight.detach(), language.model.norm.weight.detach()
        self.embedding = language.model.embed_tokens.weight.detach()
        self.layers = [FusedLayer(cast(LlamaLayer, layer)) for layer in language.model.layers]
        backbone = network.vision_backbone
        towers = (backbone.featurizer, backbone.fused_featurizer)
        self.towers = [FastTower(tower) for tower in towers if tower is not None]
        self.queries, self.rotated = sizes.dim, sizes.heads + sizes.kv_heads
        self.device, self.dtype = self.head.device, self.head.dtype
        places = torch.arange(self.config.max_tokens + GRAPH_LENGTHS, device=self.device)[None]
        cosines, sines = (table[0, 0] for table in rotary_tables(places, sizes, self.dtype))
        half = sizes.head_dim // 2
        self.rotation = Rotation(cosines, torch.cat([-sines[:, :half], sines[:, half:]], 1))
        self._replays: dict[tuple[int, bool], Replay] = {}

    @torch.inference_mode()
    def generate(self, prompts: Sequence[Sequence[int]], pixels: Tensor, count: int) -> Tensor:
        """Greedy tokens (B, count), on the device, of prompts' ids and their pictures (B, 3 per tower, H, W)."""
        lengths = [len(prompt) for prompt in prompts]
        longest = max(lengths)
        if self.device.type == "cuda":
            longest = -(-longest // GRAPH_LENGTHS) * GRAPH_LENGTHS
        padded = min(lengths) < longest
        ids = torch.tensor([[*prompt, *[0] * (longest - len(prompt))] for prompt in prompts])
        ends = torch.tensor(lengths) + self.config.patches
        if (count, padded) not in self._replays:
            self._replays[count, padded] = Replay(partial(self._generate, count, padded), self.device)
        return self._replays[count, padded](ids, ends, pixels.to(self.dtype))[0]

    def _generate(self, count: int, padded: bool, ids: Tensor, ends: Tensor, pixels: Tensor) -> tuple[Tensor]:
        """`ends` (B,): where each row's first answer goes, counted with the patches."""
        network = self.network
        x = network.embed_prompt(ids, network.project(self._look(pixels)))
        sizes = self.config.language
        shape = (len(x), sizes.kv_heads, x.shape[1], sizes.head_dim)
        places = Places(shape, count, x, ends if padded else None)
        token = self._choose(self._read(x, ends, places))
        tokens = [token]
        for step in range(1, count):
            token = self._choose(self._step(token, ends + (step - 1), step, places))
            tokens.append(token)
        return (torch.stack(tokens, 1),)

    def _look(self, pixels: Tensor) -> Tensor:
        """(B, 3 per tower, H, W) -> (B, patches, vision_dim), as `OpenVLA.patch_features`."""
        return torch.cat([tower(pixels[:, 3 * i : 3 * i + 3]) for i, tower in enumerate(self.towers)], 2)

    def _read(self, x: Tensor, ends: Tensor, places: Places) -> Tensor:
        """The whole prompt (B, S, dim) -> the hidden state at its end (B, dim); fills the cache."""
        rotation = self.rotation.at(slice(x.shape[1]))
        for layer in self.layers[:-1]:
            q, k, v = self._heads(F.linear(self._normed(x, layer.norm1), layer.qkv), rotation)
            places.add_layer(k, v)
            shared = q.shape[1] != k.shape[1]
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=shared)
            x = self._finish(layer, x.flatten(0, 1), mixed.transpose(1, 2).flatten(0, 1).flatten(1)).view_as(x)
        last = self.layers[-1]
        normed = self._normed(x, last.norm1)
        rows = torch.arange(len(x), device=x.device)
        k, v = self._keys(F.linear(normed, last.qkv[self.queries :]), rotation)
        places.add_layer(k, v)
        q = F.linear(normed[rows, ends - 1], last.qkv[: self.queries]).view(len(x), -1, rotation.cosines.shape[-1])
        mixed = places.attend(len(self.layers) - 1, 0, self.rotation.at(ends - 1).turn(q))
        return self._finish(last, x[rows, ends - 1], mixed.flatten(1))

    def _step(self, token: Tensor, positions: Tensor, step: int, places: Places) -> Tensor:
        """One token (B,) at `positions` (B,) -> its hidden state (B, dim)."""
        x = F.embedding(token, self.embedding)
        rotation = self.rotation.at(positions)
        for index, layer in enumerate(self.layers):
            joint = F.linear(self._normed(x, layer.norm1), layer.qkv).view(len(x), -1, rotation.cosines.shape[-1])
            turned = rotation.turn(joint[:, : self.rotated])
            heads = self.config.language.heads
            places.add_token(index, step, turned[:, heads:], joint[:, self.rotated :])
            x = self._finish(layer, x, places.attend(index, step, turned[:, :heads]).flatten(1))
        return x

    def _heads(self, joint: Tensor, rotation: Rotation) -> tuple[Tensor, Tensor, Tensor]:
        """(B, S, all heads * size) -> queries, keys (both rotated), values: (B, heads, S, size)."""
        split = joint.view(*joint.shape[:2], -1, rotation.cosines.shape[-1]).transpose(1, 2)
        turned = rotation.turn(split[:, : self.rotated])
        heads = self.config.language.heads
        return turned[:, :heads], turned[:, heads:], split[:, self.rotated :]

    def _keys(self, joint: Tensor, rotation: Rotation) -> tuple[Tensor, Tensor]:
        """The same without queries."""
        split = joint.view(*joint.shape[:2], -1, rotation.cosines.shape[-1]).transpose(1, 2)
        keys, values = split.chunk(2, 1)
        return rotation.turn(keys), values

    def _finish(self, layer: FusedLayer, x: Tensor, mixed: Tensor) -> Tensor:
        """What follows attention, for rows (N, dim)."""
        x = torch.addmm(x, mixed, layer.out)
        gate, up = F.linear(self._normed(x, layer.norm2), layer.gate_up).chunk(2, -1)
        return torch.addmm(x, F.silu(gate) * up, layer.down)

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x, weight.shape, weight, self.config.language.rms_eps)

    def _choose(self, hidden: Tensor) -> Tensor:
        """(B, dim) -> the likeliest token (B,), over the padded vocabulary."""
        return F.linear(self._normed(hidden, self.norm), self.head).float().argmax(-1)
