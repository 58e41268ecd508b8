"""Octo's action head: noise turned into a chunk of actions, step by step, by a network that is told the step.

DDPM (Ho et al. 2020) with cosine betas (Nichol & Dhariwal 2021). The noise is an argument, so a sample can be repeated.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.flax_layers import Dense, LayerNorm
from policies.networks.initial import drawn
from policies.networks.octo_sizes import HeadConfig, Schedule


class FourierFeatures(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.kernel = nn.Parameter(drawn(size // 2, 1, deviation=0.2))

    def forward(self, time: Tensor) -> Tensor:
        """(..., 1) -> (..., size): cosines, then sines."""
        angles = 2 * math.pi * time @ self.kernel.t()
        return torch.cat([angles.cos(), angles.sin()], -1)


class TimeMlp(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.Dense_0 = Dense((size,), (2 * size,))
        self.Dense_1 = Dense((2 * size,), (size,))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.Dense_1(F.silu(self.Dense_0(x)))
        return out


class ResidualMlp(nn.Module):
    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        if config.layer_norm:
            self.LayerNorm_0 = LayerNorm(config.hidden)
        self.Dense_0 = Dense((config.hidden,), (config.widening * config.hidden,))
        self.Dense_1 = Dense((config.widening * config.hidden,), (config.hidden,))

    def forward(self, x: Tensor) -> Tensor:
        normed = self.LayerNorm_0(x) if hasattr(self, "LayerNorm_0") else x
        out: Tensor = x + self.Dense_1(F.silu(self.Dense_0(normed)))
        return out


class ReverseNetwork(nn.Module):
    def __init__(self, config: HeadConfig, dim: int) -> None:
        super().__init__()
        self.blocks = config.blocks
        actions = config.horizon * config.action_dim
        self.Dense_0 = Dense((config.time_dim + dim + actions,), (config.hidden,))
        for i in range(config.blocks):
            self.add_module(f"MLPResNetBlock_{i}", ResidualMlp(config))
        self.Dense_1 = Dense((config.hidden,), (actions,))

    def forward(self, x: Tensor) -> Tensor:
        x = self.Dense_0(x)
        for i in range(self.blocks):
            x = self.get_submodule(f"MLPResNetBlock_{i}")(x)
        out: Tensor = self.Dense_1(F.silu(x))
        return out


class DiffusionModel(nn.Module):
    def __init__(self, config: HeadConfig, dim: int) -> None:
        super().__init__()
        self.time_preprocess = FourierFeatures(config.time_dim)
        self.cond_encoder = TimeMlp(config.time_dim)
        self.reverse_network = ReverseNetwork(config, dim)

    def forward(self, embedding: Tensor, actions: Tensor, time: Tensor) -> Tensor:
        condition = self.cond_encoder(self.time_preprocess(time))
        out: Tensor = self.reverse_network(torch.cat([condition, embedding, actions], -1))
        return out


class DiffusionHead(nn.Module):
    def __init__(self, config: HeadConfig, dim: int) -> None:
        super().__init__()
        self.config = config
        self.schedule = Schedule.cosine(config.steps)
        self.diffusion_model = DiffusionModel(config, dim)

    def predict_noise(self, embedding: Tensor, actions: Tensor, time: Tensor) -> Tensor:
        """embedding (..., dim), noisy actions (..., A), time (..., 1) -> the noise in the actions (..., A)."""
        kind = self.diffusion_model.time_preprocess.kernel.dtype
        noise: Tensor = self.diffusion_model(embedding.to(kind), actions.to(kind), time.to(kind))
        return noise

    def sample(self, embedding: Tensor, first: Tensor, later: Tensor) -> Tensor:
        """embedding (..., dim), `first` noise (..., A), `later` noise (steps, ..., A) -> (..., horizon, action_dim).

        A = horizon * action_dim. later[k] is added in the k-th step, counted from the noisiest; the last is not used.
        """
        config, schedule = self.config, self.schedule
        x = first.float()
        for k, t in enumerate(range(config.steps - 1, -1, -1)):
            time = x.new_full((*x.shape[:-1], 1), float(t))
            noise = self.predict_noise(embedding, x, time).float()
            share = float((1 - schedule.alphas[t]) / np.sqrt(1 - schedule.remaining[t]))
            x = (x - share * noise) * float(1 / np.sqrt(schedule.alphas[t]))
            if t > 0:
                x = x + float(np.sqrt(schedule.betas[t])) * later[k]
            x = x.clamp(-config.max_action, config.max_action)
        return x.view(*x.shape[:-1], config.horizon, config.action_dim)

    def loss(self, embedding: Tensor, actions: Tensor, mask: Tensor, time: Tensor, noise: Tensor) -> Tensor:
        """Mean squared error of the predicted noise over True of `mask`, times action_dim; for training.

        actions, mask and noise (B, window, A), actions normalised; time (B, window, 1), whole steps.
        """
        config = self.config
        remaining = torch.from_numpy(self.schedule.remaining).to(actions.device)[time.long()]  # (B, window, 1)
        clipped = actions.clamp(-config.max_action, config.max_action)
        noisy = remaining.sqrt() * clipped + (1 - remaining).sqrt() * noise
        error = (self.predict_noise(embedding, noisy, time).float() - noise) ** 2
        return (error * mask).mean() / mask.float().mean().clamp(min=1e-5) * config.action_dim
