"""Sizes of OpenVLA. Needs no network library."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TowerConfig:
    """One Vision Transformer. `registers` and the class token stand before the patches and are dropped at the end."""

    image_size: int
    patch: int
    dim: int
    depth: int
    heads: int
    mlp: int
    class_token: bool
    registers: int
    layer_scale: bool
    attention_pool: bool  # a pooling head that the checkpoint holds and nothing here uses
    norm_eps: float = 1e-6

    @property
    def patches(self) -> int:
        return (self.image_size // self.patch) ** 2

    @property
    def prefix(self) -> int:
        return int(self.class_token) + self.registers


@dataclass(frozen=True)
class LanguageConfig:
    """The Llama. `vocabulary` counts the padded rows of the embedding."""

    vocabulary: int
    dim: int
    mlp: int
    layers: int
    heads: int
    kv_heads: int
    rope_theta: float
    rms_eps: float
    max_positions: int

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


@dataclass(frozen=True)
class OpenVLAConfig:
    """What the network, its text and its action codes are made from; `policies.openvla.config` reads it."""

    towers: tuple[TowerConfig, ...]  # DINOv2 first: the order of the feature channels
    language: LanguageConfig
    vocabulary_padding: int  # rows added to the tokenizer's vocabulary; action ids end where it ends
    action_bins: int  # edges over [-1, 1]; one fewer intervals
    bos_id: int
    trailing_id: int | None  # must end the prompt; None where the tokenizer has no such id
    prompt: str  # with {instruction}
    max_tokens: int  # of BOS, patches, text and action together
    projector_widening: int = 4

    @property
    def base_vocabulary(self) -> int:
        return self.language.vocabulary - self.vocabulary_padding

    @property
    def patches(self) -> int:
        return self.towers[0].patches

    @property
    def vision_dim(self) -> int:
        return sum(tower.dim for tower in self.towers)
