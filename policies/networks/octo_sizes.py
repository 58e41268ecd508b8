"""Sizes of Octo, of its text encoder and of its head, and the head's noise schedule. Needs no network library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class T5Config:
    vocabulary: int
    dim: int
    head_dim: int
    mlp: int
    layers: int
    heads: int
    buckets: int = 32
    max_distance: int = 128
    norm_eps: float = 1e-6
    pad_id: int = 0
    end_id: int = 1


@dataclass(frozen=True)
class StemConfig:
    """Convolutions before the patches. `name` is the published class: the checkpoint's tensors are called after it."""

    name: str = "SmallStem16"
    patch: int = 16
    kernels: tuple[int, ...] = (3, 3, 3, 3)
    strides: tuple[int, ...] = (2, 2, 2, 2)
    features: tuple[int, ...] = (32, 96, 192, 384)
    padding: tuple[int, ...] = (1, 1, 1, 1)
    width: int = 512
    norm_groups: int = 32

    @property
    def last_kernel(self) -> int:
        return self.patch // 16

    def cells(self, length: int) -> int:
        """Tokens along one side of a picture of `length` pixels."""
        for kernel, stride, padding in zip(self.kernels, self.strides, self.padding, strict=True):
            length = (length + 2 * padding - kernel) // stride + 1
        return length // self.last_kernel


@dataclass(frozen=True)
class CameraConfig:
    """`goal`: the picture wanted is stacked onto the one seen, zeros where there is none."""

    name: str
    height: int
    width: int
    stem: StemConfig
    goal: bool = True

    @property
    def tokens(self) -> int:
        return self.stem.cells(self.height) * self.stem.cells(self.width)


@dataclass(frozen=True)
class TextConfig:
    """`frozen`: no gradient reaches the encoder."""

    name: str
    tokens: int
    encoder: T5Config
    frozen: bool = True


@dataclass(frozen=True)
class HeadConfig:
    readout: str
    action_dim: int
    horizon: int
    time_dim: int = 32
    blocks: int = 3
    hidden: int = 256
    widening: int = 4
    layer_norm: bool = True
    steps: int = 20
    max_action: float = 5.0


@dataclass(frozen=True)
class OctoConfig:
    cameras: tuple[CameraConfig, ...]
    text: TextConfig
    head: HeadConfig
    readouts: Mapping[str, int]  # name -> tokens
    dim: int
    layers: int
    heads: int
    mlp: int
    max_horizon: int
    window: int
    repeat_task_tokens: bool
    use_correct_attention: bool


@dataclass(frozen=True)
class Schedule:
    """One number per step, in float32 throughout, as the published code computes them."""

    betas: NDArray[np.float32]
    alphas: NDArray[np.float32]
    remaining: NDArray[np.float32]  # product of alphas so far: the share of signal

    @classmethod
    def cosine(cls, steps: int, shift: float = 0.008) -> Schedule:
        t = np.linspace(0, steps, steps + 1, dtype=np.float32) / np.float32(steps)
        signal = np.cos((t + np.float32(shift)) / np.float32(1 + shift) * np.float32(np.pi) * np.float32(0.5)) ** 2
        signal = signal / signal[0]
        betas = np.clip(1 - signal[1:] / signal[:-1], 0, np.float32(0.999)).astype(np.float32)
        return cls(betas, 1 - betas, np.cumprod(1 - betas, dtype=np.float32))
