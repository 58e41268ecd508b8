"""Layers whose weights keep the names and axes of flax: its checkpoints need no renaming and no turning."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.initial import drawn


class Dense(nn.Module):
    """`kernel` has all input axes, then all output axes; the result's are flattened into one."""

    def __init__(self, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        super().__init__()
        self.outputs = math.prod(outputs)
        bound = math.sqrt(6 / (math.prod(inputs) + self.outputs))
        self.kernel = nn.Parameter(torch.empty(*inputs, *outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.kernel.reshape(-1, self.outputs).t(), self.bias.flatten())


class LayerNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.scale.shape, self.scale, self.bias, eps=1e-6)


class GroupNorm(LayerNorm):
    def __init__(self, dim: int, groups: int) -> None:
        super().__init__(dim)
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        return F.group_norm(x, self.groups, self.scale, self.bias, eps=1e-6)


class Conv(nn.Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, padding: int = 0) -> None:
        super().__init__()
        self.stride, self.padding = stride, padding
        deviation = (inputs * kernel * kernel) ** -0.5
        self.kernel = nn.Parameter(drawn(kernel, kernel, inputs, outputs, deviation=deviation))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def weight(self) -> Tensor:
        return self.kernel

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W), as everywhere in torch."""
        return F.conv2d(x, self.weight().permute(3, 2, 0, 1), self.bias, self.stride, self.padding)


class StdConv(Conv):
    """Weight standardisation: each filter is used with mean 0 and deviation 1 over height, width and input channels."""

    def weight(self) -> Tensor:
        centred = self.kernel - self.kernel.mean((0, 1, 2))
        return centred / (centred.std((0, 1, 2), correction=0) + 1e-5)
