"""Octo's forward pass for training: one frame of one camera, the same numbers as `Octo.forward`, but less work.

The last block computes only the readout, because nothing else of it reaches the action. The pass also returns what the
auxiliary heads need: the image tokens before and between the blocks, and the attention of the readout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from policies.networks.octo import Attention, EncoderBlock, Octo, Stem, attention_rules
from policies.octo.stem import stem_tokens

HIDDEN = -1e4  # far below any score, and still a number in bfloat16


@dataclass(frozen=True)
class OneFrameOutput:
    text: Tensor  # (B, L, t5 dim) T5's hidden states
    stem: Tensor  # (B, cells, dim) image tokens as they enter the transformer
    middle: Tensor  # (B, cells, dim) image tokens two blocks before the end
    readout: Tensor  # (B, dim)
    readout_scores: list[Tensor]  # attention scores (B, heads, T) of the readout in each of the last two blocks


class OneFrame:
    """The forward pass of a network of window 1 with one camera, one readout token and no repeated text."""

    def __init__(self, network: Octo) -> None:
        config = network.config
        self.network, (self.camera,) = network, config.cameras
        ((self.readout, size),) = config.readouts.items()
        if config.window != 1 or size != 1 or config.repeat_task_tokens or self.camera.goal:
            raise ValueError("expected window 1, one readout token, no goal picture and no repeated text")
        tokenizer = network.octo_transformer.get_submodule(f"observation_tokenizers_{self.camera.name}")
        self.stem = cast(Stem, next(tokenizer.children()))
        self.before = config.text.tokens
        rules = attention_rules(
            ((f"task_{config.text.name}", self.before),),
            ((f"obs_{self.camera.name}", self.camera.tokens), (f"readout_{self.readout}", 1)),
            1,
            config.use_correct_attention,
        )
        self.bias = torch.zeros(rules.shape).masked_fill(~torch.from_numpy(rules), HIDDEN)

    def __call__(self, images: Tensor, ids: Tensor, present: Tensor) -> OneFrameOutput:
        """images (B, H, W, 3) in 0..255, ids and present (B, L)."""
        network, config = self.network, self.network.config
        parts = network.octo_transformer
        text = network.encode_text(ids, present)
        words, view = f"task_{config.text.name}", f"obs_{self.camera.name}"
        stem = parts.project(view, stem_tokens(self.stem, images))
        stem = stem + parts.positions(view)[:, 0]
        readout = parts.positions(f"readout_{self.readout}")[:, 0].expand(len(images), -1, -1)
        x = torch.cat([parts.project(words, text) + parts.positions(words), stem, readout], 1)
        return OneFrameOutput(text, stem, *self._blocks(x))

    def _blocks(self, x: Tensor) -> tuple[Tensor, Tensor, list[Tensor]]:
        transformer = self.network.octo_transformer.BlockTransformer_0.Transformer_0
        bias, count = self.bias.to(x), transformer.layers
        middle, readout_scores = x, []
        for number in range(count):
            block = cast(EncoderBlock, transformer.get_submodule(f"encoderblock_{number}"))
            if number == max(0, count - 2):
                middle = x
            normed = block.LayerNorm_0(x)
            if number == count - 1:
                x, queries, rules = x[:, -1:], normed[:, -1:], bias[-1:]
            else:
                queries, rules = normed, bias
            mixed, scores = attend(block.MultiHeadDotProductAttention_0, queries, normed, rules)
            x = x + mixed
            x = x + block.MlpBlock_0(block.LayerNorm_1(x))
            if number >= count - 2:
                readout_scores.append(scores[:, :, -1])
        readout: Tensor = transformer.encoder_norm(x)[:, 0]
        return middle[:, self.before : -1], readout, readout_scores


def attend(attention: Attention, queries: Tensor, keys: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Attention of queries (B, n, dim) to keys (B, T, dim): the mix (B, n, dim) and its scores (B, heads, n, T).

    Written out, because with a bias the backward pass of torch's fused attention takes several times as long on a CPU.
    """
    b, n, _ = queries.shape
    q = attention.query(queries).view(b, n, attention.heads, -1).transpose(1, 2)
    k, v = (
        part(keys).view(b, keys.shape[1], attention.heads, -1).transpose(1, 2)
        for part in (attention.key, attention.value)
    )
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias
    mixed = scores.softmax(-1).to(v.dtype) @ v
    out: Tensor = attention.out(mixed.transpose(1, 2).reshape(b, n, -1))
    return out, scores
