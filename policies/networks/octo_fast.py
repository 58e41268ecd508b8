"""Octo's actions in less time: the numbers of `Octo.sample(Octo(...))` up to rounding, with less work.

- The text's tokens see only each other: their keys and values in every layer are computed once per instruction.
- A picture's stem knows neither time nor text: a frame of the window is seen once, and its tokens are kept.
- Tokens that the head's readout cannot see, directly or through others, are left out; the last layer computes it alone.
- Filters are standardised, and what the head's steps share is computed, once.

On CUDA the transformer with all steps of the head is one graph, and a stem is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from policies.networks.diffusion_fast import FastHead
from policies.networks.flax_layers import Dense
from policies.networks.octo import EncoderBlock, Octo, attention_rules
from policies.networks.replay import Replay
from policies.networks.stem_fast import FastStem

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class TextMemory:
    """An instruction as the transformer has it. `tokens` (n, dim); `seen` (layers, 2, heads, n, size): keys, values."""

    tokens: Tensor
    seen: Tensor


def fuse(parts: Sequence[Dense]) -> tuple[Tensor, Tensor]:
    """One kernel (dim, sum of outputs) and bias. A frozen network's own kernels become views of it."""
    joint = torch.cat([part.kernel.detach().flatten(1) for part in parts], 1)
    bias = torch.cat([part.bias.detach().flatten() for part in parts])
    if not any(part.kernel.requires_grad for part in parts):
        for part, columns in zip(parts, joint.chunk(len(parts), 1), strict=True):
            part.kernel = nn.Parameter(columns.view(part.kernel.shape), requires_grad=False)
    return joint, bias


class FastEncoderBlock:
    def __init__(self, block: EncoderBlock) -> None:
        attention, mlp = block.MultiHeadDotProductAttention_0, block.MlpBlock_0
        self.heads = attention.heads
        self.qkv, self.qkv_bias = fuse([attention.query, attention.key, attention.value])
        self.out = attention.out.kernel.detach().flatten(0, 1), attention.out.bias.detach()
        self.wide, self.narrow = _kernel(mlp.Dense_0), _kernel(mlp.Dense_1)
        self.norm1 = block.LayerNorm_0.scale.detach(), block.LayerNorm_0.bias.detach()
        self.norm2 = block.LayerNorm_1.scale.detach(), block.LayerNorm_1.bias.detach()

    def heads_of(self, x: Tensor) -> Tensor:
        """(B, n, dim) -> queries, keys, values: (3, B, heads, n, size)."""
        joint = torch.addmm(self.qkv_bias, _normed(x, self.norm1).flatten(0, 1), self.qkv)
        return joint.view(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """What follows attention. x (B, n, dim), mixed (B, heads, n, size)."""
        kernel, bias = self.out
        x = x + torch.addmm(bias, mixed.transpose(1, 2).flatten(2).flatten(0, 1), kernel).view_as(x)
        hidden = torch.addmm(self.wide[1], _normed(x, self.norm2).flatten(0, 1), self.wide[0])
        return x + torch.addmm(self.narrow[1], F.gelu(hidden, approximate="tanh"), self.narrow[0]).view_as(x)


class FastOcto:
    """Made from a loaded network whose weights stay. `cameras`: those that will be given, in the network's order."""

    def __init__(self, network: Octo, cameras: Sequence[str]) -> None:
        config, parts = network.config, network.octo_transformer
        self.network, self.config, self.cameras = network, config, tuple(cameras)
        transformer = parts.BlockTransformer_0.Transformer_0
        blocks = [transformer.get_submodule(f"encoderblock_{index}") for index in range(config.layers)]
        self.blocks = [FastEncoderBlock(cast(EncoderBlock, block)) for block in blocks]
        self.norm = transformer.encoder_norm.scale.detach(), transformer.encoder_norm.bias.detach()
        self.text = f"task_{config.text.name}"
        self.device, self.dtype = self.norm[0].device, self.norm[0].dtype
        chosen = [camera for camera in config.cameras if camera.name in self.cameras]
        self.head = FastHead(network.heads_action)
        self._stems = {camera.name: _replayed(FastStem(network, camera), self.device) for camera in chosen}
        self._positions = [parts.positions(f"obs_{name}").detach()[:, : config.window] for name in self.cameras]
        self._lay_out([(f"obs_{camera.name}", camera.tokens) for camera in chosen])
        self._act = Replay(self._actions, self.device)

    def _lay_out(self, cameras: list[tuple[str, int]]) -> None:
        """Which tokens are needed, and who of them sees whom, per number of missing first frames."""
        config, window, before = self.config, self.config.window, self.config.text.tokens
        repeated = [(f"obs_{self.text}", before)] if config.repeat_task_tokens else []
        readouts = [(f"readout_{name}", tokens) for name, tokens in config.readouts.items()]
        step = (*cameras, *repeated, *readouts)
        rules = attention_rules(((self.text, before),), step, window, config.use_correct_attention)[before:]
        names = np.array([name for name, size in step for _ in range(size)] * window)
        times = np.repeat(np.arange(window), len(names) // window)
        asked = (names == config.head.readout) & (times == window - 1)
        needed = reachable(rules[:, before:], asked)
        pictures = np.isin(names, [name for name, _ in cameras])  # a missing frame's text is not hidden, as published
        shown = [~(pictures & (times < missing)) for missing in range(window)]
        keys = np.stack([np.concatenate([np.ones(before, bool), one[needed]]) for one in shown])
        among = rules[needed][:, np.concatenate([np.ones(before, bool), needed])]
        seen = torch.from_numpy(among & keys[:, None]).to(self.device)
        self._bias = torch.zeros_like(seen, dtype=self.dtype).masked_fill(~seen, torch.finfo(self.dtype).min)
        self._needed = torch.from_numpy(np.flatnonzero(needed)).to(self.device)
        self._asked = torch.from_numpy(np.flatnonzero(asked[needed])).to(self.device)

    @torch.inference_mode()
    def remember(self, text: Tensor) -> TextMemory:
        """T5's states (n, t5 dim) of an instruction -> all that later frames need of it."""
        parts = self.network.octo_transformer
        tokens = parts.project(self.text, text[None]) + parts.positions(self.text)
        x, seen = tokens, []
        for block in self.blocks:
            q, k, v = block.heads_of(x)
            seen.append(torch.stack([k[0], v[0]]))
            x = block.finish(x, F.scaled_dot_product_attention(q, k, v))
        return TextMemory(tokens[0], torch.stack(seen))

    @torch.inference_mode()
    def look(self, camera: str, pictures: Tensor) -> Tensor:
        """A frame's tokens, to be kept while it is in the window: uint8 (B, H, W, 3) -> (B, tokens, dim)."""
        return self._stems[camera](pictures)[0]

    @torch.inference_mode()
    def sample(
        self, frames: Mapping[str, Tensor], missing: Tensor, texts: Sequence[TextMemory], first: Tensor, later: Tensor
    ) -> Tensor:
        """Normalised actions (B, horizon, action_dim).

        frames: camera -> what `look` answered for each frame of the window, (B, window, tokens, dim). missing (B,): how
        many of them, from the first, only pad. first (B, A) and later (steps, B, A): the last frame's noise.
        """
        tokens = torch.stack([text.tokens for text in texts])
        seen = torch.stack([text.seen for text in texts], 2)  # (layers, 2, B, heads, n, size)
        return self._act(missing, tokens, seen, first, later, *(frames[name] for name in self.cameras))[0]

    def _actions(
        self, missing: Tensor, text: Tensor, seen: Tensor, first: Tensor, later: Tensor, *frames: Tensor
    ) -> tuple[Tensor]:
        x = self._tokens(frames, text)
        bias = self._bias[missing][:, None]
        for block, memory in zip(self.blocks[:-1], seen[:-1], strict=True):
            q, k, v = block.heads_of(x)
            x = block.finish(x, _attend(q, k, v, memory, bias))
        last = self.blocks[-1]
        q, k, v = last.heads_of(x)
        bias = bias.index_select(2, self._asked)
        mixed = _attend(q.index_select(2, self._asked), k, v, seen[-1], bias)
        x = last.finish(x.index_select(1, self._asked), mixed)
        return (self.head.sample(_normed(x, self.norm).mean(1), first, later),)

    def _tokens(self, frames: Sequence[Tensor], text: Tensor) -> Tensor:
        """The needed tokens after the text, in the order of the sequence: (B, n, dim)."""
        window = self.config.window
        groups = [tokens + positions for tokens, positions in zip(frames, self._positions, strict=True)]
        if self.config.repeat_task_tokens:
            groups.append(text[:, None].expand(-1, window, -1, -1))
        for name in self.config.readouts:
            readout = self.network.octo_transformer.positions(f"readout_{name}")[:, :window]
            groups.append(readout.expand(len(text), -1, -1, -1))
        return torch.cat(groups, 2).flatten(1, 2).index_select(1, self._needed)


def reachable(rules: Bools, start: Bools) -> Bools:
    """All that `start` sees, or sees through others, itself included: rules (T, T), start (T,) -> (T,)."""
    found = start
    while (further := found | rules[found].any(0)).sum() > found.sum():
        found = further
    return found


def _attend(query: Tensor, keys: Tensor, values: Tensor, memory: Tensor, bias: Tensor) -> Tensor:
    """`memory` (2, B, heads, n, size): what comes before the keys and values."""
    keys, values = torch.cat([memory[0], keys], 2), torch.cat([memory[1], values], 2)
    return F.scaled_dot_product_attention(query, keys, values, bias)


def _kernel(layer: Dense) -> tuple[Tensor, Tensor]:
    return layer.kernel.detach(), layer.bias.detach()


def _normed(x: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], *norm, eps=1e-6)


def _replayed(stem: FastStem, device: torch.device) -> Replay:
    return Replay(lambda pictures: (stem(pictures),), device)
