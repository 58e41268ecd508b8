"""The encoder of T5 (Raffel et al. 2020), first version, with weights and names as flax keeps them.

Pre-norm without means or biases, attention without the usual scaling, one table of relative positions for all layers.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.initial import drawn
from policies.networks.octo_sizes import T5Config


class Kernel(nn.Module):
    """A dense layer without bias; flax keeps (in, out)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(drawn(inputs, outputs, deviation=inputs**-0.5))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.kernel


class T5Embedding(nn.Module):
    def __init__(self, rows: int, dim: int) -> None:
        super().__init__()
        self.embedding = nn.Parameter(drawn(rows, dim, deviation=0.02))

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.embedding)


class T5Norm(nn.Module):
    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config.dim))
        self.eps = config.norm_eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype)


class SelfAttention(nn.Module):
    def __init__(self, config: T5Config, first: bool) -> None:
        super().__init__()
        self.config = config
        inner = config.heads * config.head_dim
        self.q, self.k, self.v = (Kernel(config.dim, inner) for _ in range(3))
        self.o = Kernel(inner, config.dim)
        if first:
            self.relative_attention_bias = T5Embedding(config.buckets, config.heads)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """x (B, L, dim), bias (B, heads, L, L) added to the scores, which are not scaled."""
        b, length, _ = x.shape
        q, k, v = (part(x).view(b, length, self.config.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        mixed = F.scaled_dot_product_attention(q, k, v, bias, scale=1.0)
        out: Tensor = self.o(mixed.transpose(1, 2).reshape(b, length, -1))
        return out


class DenseReluDense(nn.Module):
    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.wi = Kernel(config.dim, config.mlp)
        self.wo = Kernel(config.mlp, config.dim)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.wo(F.relu(self.wi(x)))
        return out


class AttentionLayer(nn.Module):
    def __init__(self, config: T5Config, first: bool) -> None:
        super().__init__()
        self.SelfAttention = SelfAttention(config, first)
        self.layer_norm = T5Norm(config)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        out: Tensor = x + self.SelfAttention(self.layer_norm(x), bias)
        return out


class FeedForwardLayer(nn.Module):
    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.DenseReluDense = DenseReluDense(config)
        self.layer_norm = T5Norm(config)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.DenseReluDense(self.layer_norm(x))
        return out


class T5Block(nn.Module):
    def __init__(self, config: T5Config, first: bool) -> None:
        super().__init__()
        self.layer = nn.ModuleList([AttentionLayer(config, first), FeedForwardLayer(config)])

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        out: Tensor = self.layer[1](self.layer[0](x, bias))
        return out


class Stack(nn.Module):
    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.block = nn.ModuleList(T5Block(config, first=index == 0) for index in range(config.layers))
        self.final_layer_norm = T5Norm(config)


class T5Encoder(nn.Module):
    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.config = config
        self.encoder = Stack(config)
        self.shared = T5Embedding(config.vocabulary, config.dim)

    def forward(self, ids: Tensor, present: Tensor) -> Tensor:
        """ids (B, L), present (B, L) bool, False for padding -> last hidden state (B, L, dim), padding included."""
        x = self.shared(ids)
        bias = self._bias(ids.shape[1], present, x.dtype)
        for block in self.encoder.block:
            x = block(x, bias)
        out: Tensor = self.encoder.final_layer_norm(x)
        return out

    def _bias(self, length: int, present: Tensor, dtype: torch.dtype) -> Tensor:
        """Relative positions plus the hiding of padding: (B, heads, L, L)."""
        table = self.encoder.get_submodule("block.0.layer.0.SelfAttention.relative_attention_bias")
        places = torch.arange(length, device=present.device)
        buckets = relative_buckets(places[None, :] - places[:, None], self.config)
        hidden = torch.where(present, 0.0, torch.finfo(dtype).min).to(dtype)
        bias: Tensor = table(buckets).permute(2, 0, 1)[None] + hidden[:, None, None]
        return bias


def relative_buckets(distance: Tensor, config: T5Config) -> Tensor:
    """Key minus query position -> bucket. Half of the buckets look ahead; of each half, half are logarithmic."""
    half = config.buckets // 2
    exact = half // 2
    far = distance.abs()
    spread = torch.log(far.clamp(min=1).float() / exact) / math.log(config.max_distance / exact) * (half - exact)
    logarithmic = (exact + spread.long()).clamp(max=half - 1)
    return torch.where(far < exact, far, logarithmic) + half * (distance > 0)
