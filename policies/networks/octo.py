"""Octo: pictures and a sentence as groups of tokens, a transformer with block-wise attention, a diffusion head.

Modules carry the names, and weights the shapes, of the published flax checkpoint: dense kernels are (in, out),
convolutions (height, width, in, out), attention heads an axis of their own.
Architecture: Octo Model Team 2024. Stages can be called one by one:

    encode_text   ids -> T5's hidden states                   token_groups   everything as the transformer reads it
    image_tokens  one camera through its stem                 attention_mask who may look at whom
    forward       every group after the transformer           predict_noise, sample   the diffusion head
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from policies.networks.diffusion import DiffusionHead
from policies.networks.flax_layers import Conv, Dense, GroupNorm, LayerNorm, StdConv
from policies.networks.initial import drawn
from policies.networks.octo_sizes import CameraConfig, OctoConfig, StemConfig, TextConfig
from policies.networks.t5 import T5Encoder


@dataclass(frozen=True)
class OctoObservation:
    """`images`: camera -> uint8 (B, window, H, W, 3); a camera that is absent has no tokens.

    `timestep_mask`: (B, window), False for a frame that only pads. `camera_masks`: camera -> (B, window), False for a
    picture to ignore.
    """

    images: Mapping[str, Tensor]
    timestep_mask: Tensor
    camera_masks: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class OctoTask:
    """`text`: T5's hidden states (B, L, t5 dim), or None: no text group at all.

    `text_given`: (B,), False hides all tokens of the text. `goals`: camera -> uint8 (B, H, W, 3).
    """

    text: Tensor | None
    text_given: Tensor | None = None
    goals: Mapping[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class TokenGroup:
    """Tokens of one origin. A prefix has tokens (B, n, dim) and mask (B, n); a timestep group a window axis after B."""

    name: str
    tokens: Tensor
    mask: Tensor

    @property
    def size(self) -> int:
        return self.tokens.shape[-2]


# ---- parts ---------------------------------------------------------------------------------------------------------


class Stem(nn.Module):
    def __init__(self, config: StemConfig, channels: int) -> None:
        super().__init__()
        self.config = config
        widths = (channels, *config.features)
        for i, (kernel, stride, padding) in enumerate(zip(config.kernels, config.strides, config.padding, strict=True)):
            self.add_module(f"StdConv_{i}", StdConv(widths[i], widths[i + 1], kernel, stride, padding))
            self.add_module(f"GroupNorm_{i}", GroupNorm(widths[i + 1], config.norm_groups))
        self.embedding = Conv(widths[-1], config.width, config.last_kernel, config.last_kernel)

    def forward(self, image: Tensor) -> Tensor:
        """(B, H, W, C) in 0..255, goal channels included -> (B, tokens, width), row by row."""
        x = (image.to(self.embedding.bias.dtype) / 127.5 - 1.0).permute(0, 3, 1, 2)
        for i in range(len(self.config.features)):
            x = F.relu(self.get_submodule(f"GroupNorm_{i}")(self.get_submodule(f"StdConv_{i}")(x)))
        cells: Tensor = self.embedding(x)
        return cells.flatten(2).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        split = (heads, dim // heads)
        self.query, self.key, self.value = (Dense((dim,), split) for _ in range(3))
        self.out = Dense(split, (dim,))

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        b, n, _ = x.shape
        q, k, v = (part(x).view(b, n, self.heads, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
        mixed: Tensor = self.out(F.scaled_dot_product_attention(q, k, v, bias).transpose(1, 2).reshape(b, n, -1))
        return mixed


class MlpBlock(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.Dense_0 = Dense((dim,), (hidden,))
        self.Dense_1 = Dense((hidden,), (dim,))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.Dense_1(F.gelu(self.Dense_0(x), approximate="tanh"))
        return out


class EncoderBlock(nn.Module):
    def __init__(self, config: OctoConfig) -> None:
        super().__init__()
        self.LayerNorm_0 = LayerNorm(config.dim)
        self.MultiHeadDotProductAttention_0 = Attention(config.dim, config.heads)
        self.LayerNorm_1 = LayerNorm(config.dim)
        self.MlpBlock_0 = MlpBlock(config.dim, config.mlp)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        x = x + self.MultiHeadDotProductAttention_0(self.LayerNorm_0(x), bias)
        out: Tensor = x + self.MlpBlock_0(self.LayerNorm_1(x))
        return out


class Transformer(nn.Module):
    def __init__(self, config: OctoConfig) -> None:
        super().__init__()
        self.layers = config.layers
        for i in range(config.layers):
            self.add_module(f"encoderblock_{i}", EncoderBlock(config))
        self.encoder_norm = LayerNorm(config.dim)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x (B, T, dim), mask bool (B, 1, T, T). A row that may see nothing looks at all tokens alike, as in flax."""
        bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill(~mask, torch.finfo(x.dtype).min)
        for i in range(self.layers):
            x = self.get_submodule(f"encoderblock_{i}")(x, bias)
        out: Tensor = self.encoder_norm(x)
        return out


# ---- who may look at whom ------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def attention_rules(
    prefix: tuple[tuple[str, int], ...], timestep: tuple[tuple[str, int], ...], horizon: int, correct: bool
) -> NDArray[np.bool_]:
    """(T, T): may token i look at token j, padding aside? Groups are (name, tokens).

    task_*: at tasks. obs_*: at tasks, and at observations of the same or earlier steps. readout_*: at what observations
    see and at itself, not at other readouts. Not `correct` is the first release's reckoning: the first token of every
    group but the first counts to the group before.
    """
    before, step = _names(prefix, correct), _names(timestep, correct)
    names = np.array(before + step * horizon)
    times = np.concatenate([np.full(len(before), -1), np.repeat(np.arange(horizon), len(step))])
    task, observation = np.char.startswith(names, "task_"), np.char.startswith(names, "obs_")
    same_or_earlier = times[None, :] <= times[:, None]
    own_readout = ~task & ~observation & (names[:, None] == names[None, :])
    rules: NDArray[np.bool_] = task[None, :] | (~task[:, None] & (observation[None, :] | own_readout))
    return rules & same_or_earlier


def _names(groups: tuple[tuple[str, int], ...], correct: bool) -> list[str]:
    """The group that each token counts to."""
    names = [name for name, size in groups for _ in range(size)]
    if correct:
        return names
    return [names[max(index - 1, 0)] for index in range(len(names))]


# ---- the whole -----------------------------------------------------------------------------------------------------


class ImageTokenizer(nn.Module):
    def __init__(self, config: CameraConfig) -> None:
        super().__init__()
        self.stem = f"{config.stem.name}_0"
        self.add_module(self.stem, Stem(config.stem, 6 if config.goal else 3))

    def forward(self, image: Tensor) -> Tensor:
        tokens: Tensor = self.get_submodule(self.stem)(image)
        return tokens


class LanguageTokenizer(nn.Module):
    def __init__(self, config: TextConfig) -> None:
        super().__init__()
        self.hf_model = T5Encoder(config.encoder)


class BlockTransformer(nn.Module):
    def __init__(self, config: OctoConfig) -> None:
        super().__init__()
        self.Transformer_0 = Transformer(config)


class OctoTransformer(nn.Module):
    """Holds what turns inputs into tokens, under the published names; `Octo` walks through it."""

    def __init__(self, config: OctoConfig) -> None:
        super().__init__()
        dim, steps = config.dim, config.max_horizon
        self.add_module(f"task_tokenizers_{config.text.name}", LanguageTokenizer(config.text))
        self._add_group(f"task_{config.text.name}", (config.text.tokens, dim), config.text.encoder.dim)
        for camera in config.cameras:
            self.add_module(f"observation_tokenizers_{camera.name}", ImageTokenizer(camera))
            self._add_group(f"obs_{camera.name}", (steps, camera.tokens, dim), camera.stem.width)
        for name, tokens in config.readouts.items():
            self._add_group(f"readout_{name}", (steps, tokens, dim))
        self.BlockTransformer_0 = BlockTransformer(config)

    def _add_group(self, name: str, shape: tuple[int, ...], inputs: int | None = None) -> None:
        self.register_parameter(f"{name}_pos_embedding", nn.Parameter(drawn(1, *shape, deviation=0.02)))
        if inputs is not None:
            self.add_module(f"{name}_projection", Dense((inputs,), shape[-1:]))

    def positions(self, name: str) -> Tensor:
        return self.get_parameter(f"{name}_pos_embedding")

    def project(self, name: str, tokens: Tensor) -> Tensor:
        projected: Tensor = self.get_submodule(f"{name}_projection")(tokens)
        return projected


class Octo(nn.Module):
    def __init__(self, config: OctoConfig) -> None:
        super().__init__()
        self.config = config
        self.octo_transformer = OctoTransformer(config)
        self.heads_action = DiffusionHead(config.head, config.dim)

    def encode_text(self, ids: Tensor, present: Tensor) -> Tensor:
        """T5: ids (B, L) and True where they are not padding (B, L) -> (B, L, t5 dim). Padding has states too."""
        tokenizer = self.octo_transformer.get_submodule(f"task_tokenizers_{self.config.text.name}")
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.config.text.frozen):
            states: Tensor = tokenizer.get_submodule("hf_model")(ids, present)
        return states

    def image_tokens(self, camera: str, images: Tensor, goals: Tensor | None = None) -> Tensor:
        """A camera's stem: images (B, window, H, W, 3), goals (B, H, W, 3) -> (B, window, tokens, stem width).

        Without a goal its channels are zero before, so -1 after scaling.
        """
        config = next(entry for entry in self.config.cameras if entry.name == camera)
        if config.goal:
            goals = torch.zeros_like(images[:, 0]) if goals is None else goals.to(images.dtype)
            images = torch.cat([images, goals[:, None].expand_as(images)], -1)
        tokenizer = self.octo_transformer.get_submodule(f"observation_tokenizers_{camera}")
        tokens: Tensor = tokenizer(images.flatten(0, 1))
        return tokens.view(*images.shape[:2], *tokens.shape[1:])

    def token_groups(self, observation: OctoObservation, task: OctoTask) -> tuple[list[TokenGroup], list[TokenGroup]]:
        """Prefix groups and timestep groups: projected, with positions, each with its padding mask."""
        prefix = [] if task.text is None else [self._text_group(task.text, task.text_given)]
        timestep = [
            self._camera_group(camera, observation, task)
            for camera in self.config.cameras
            if camera.name in observation.images
        ]
        batch, window = observation.timestep_mask.shape
        if self.config.repeat_task_tokens:  # hidden like the prefix; not by the frame's padding
            timestep += [
                TokenGroup(
                    f"obs_{group.name}",
                    group.tokens[:, None].expand(-1, window, -1, -1),
                    group.mask[:, None].expand(-1, window, -1),
                )
                for group in prefix
            ]
        for name in self.config.readouts:
            tokens = self.octo_transformer.positions(f"readout_{name}")[:, :window].expand(batch, -1, -1, -1)
            timestep.append(TokenGroup(f"readout_{name}", tokens, _all(tokens)))
        return prefix, timestep

    def attention_mask(self, prefix: Sequence[TokenGroup], timestep: Sequence[TokenGroup]) -> Tensor:
        """bool (B, 1, T, T): who may look at whom, minus padded keys. T: prefix, then each step's groups in turn."""
        window = timestep[0].tokens.shape[1]
        rules = attention_rules(
            tuple((group.name, group.size) for group in prefix),
            tuple((group.name, group.size) for group in timestep),
            window,
            self.config.use_correct_attention,
        )
        keys = torch.cat([*(g.mask for g in prefix), torch.cat([g.mask for g in timestep], 2).flatten(1)], 1)
        return torch.from_numpy(rules).to(keys.device)[None, None] & keys[:, None, None, :]

    def forward(self, observation: OctoObservation, task: OctoTask) -> dict[str, Tensor]:
        """Every group after the transformer, by name: task_* (B, n, dim), obs_* and readout_* (B, window, n, dim)."""
        prefix, timestep = self.token_groups(observation, task)
        mask = self.attention_mask(prefix, timestep)
        steps = torch.cat([group.tokens for group in timestep], 2)  # (B, window, n of a step, dim)
        x = torch.cat([*(group.tokens for group in prefix), steps.flatten(1, 2)], 1)
        x = self.octo_transformer.BlockTransformer_0.Transformer_0(x, mask)
        count = sum(group.size for group in prefix)
        before = x[:, :count].split([group.size for group in prefix], 1) if prefix else ()
        after = x[:, count:].view(steps.shape).split([group.size for group in timestep], 2)
        return {group.name: out for group, out in zip([*prefix, *timestep], [*before, *after], strict=True)}

    def readout(self, outputs: Mapping[str, Tensor]) -> Tensor:
        """What the head is conditioned on: the mean over the readout's tokens, (B, window, dim)."""
        return outputs[self.config.head.readout].mean(-2)

    def predict_noise(self, outputs: Mapping[str, Tensor], actions: Tensor, time: Tensor) -> Tensor:
        """The head once: noisy actions (B, window, A), time (B, window, 1) -> (B, window, A)."""
        return self.heads_action.predict_noise(self.readout(outputs), actions, time)

    def sample(self, outputs: Mapping[str, Tensor], first: Tensor, later: Tensor) -> Tensor:
        """Normalised actions of the window's last frame, (B, horizon, action_dim).

        `first` (B, window, A) and `later` (steps, B, window, A) are standard normal noise, A = horizon * action_dim.
        Frames do not mix, so only the last one's is used.
        """
        return self.heads_action.sample(self.readout(outputs)[:, -1], first[:, -1], later[:, :, -1])

    def _text_group(self, text: Tensor, given: Tensor | None) -> TokenGroup:
        """All positions of the text can be seen, padded ones too; all are hidden where no text was given."""
        name = f"task_{self.config.text.name}"
        tokens = self.octo_transformer.project(name, text) + self.octo_transformer.positions(name)
        mask = _all(tokens)
        return TokenGroup(name, tokens, mask if given is None else mask & given[:, None])

    def _camera_group(self, camera: CameraConfig, observation: OctoObservation, task: OctoTask) -> TokenGroup:
        name, images = f"obs_{camera.name}", observation.images[camera.name]
        stemmed = self.image_tokens(camera.name, images, task.goals.get(camera.name))
        tokens = self.octo_transformer.project(name, stemmed)
        tokens = tokens + self.octo_transformer.positions(name)[:, : images.shape[1]]
        shown = observation.timestep_mask
        if camera.name in observation.camera_masks:
            shown = shown & observation.camera_masks[camera.name]
        return TokenGroup(name, tokens, shown[:, :, None].expand(tokens.shape[:-1]))


def _all(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.shape[:-1], dtype=torch.bool, device=tokens.device)
