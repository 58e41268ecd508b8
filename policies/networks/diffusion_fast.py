"""The diffusion head's steps without what they share: the numbers of `DiffusionHead.sample`, up to rounding."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from policies.networks.diffusion import DiffusionHead, ResidualMlp


class FastHead:
    """The first layer is split by its inputs: the time's share is known here, the embedding's once per sample."""

    @torch.inference_mode()
    def __init__(self, head: DiffusionHead) -> None:
        self.config = config = head.config
        model, network = head.diffusion_model, head.diffusion_model.reverse_network
        first = network.Dense_0
        self.dtype = first.kernel.dtype
        sizes = [config.time_dim, first.kernel.shape[0] - config.time_dim - config.horizon * config.action_dim]
        time, self.from_embedding, self.from_actions = first.kernel.detach().tensor_split([sizes[0], sum(sizes)])
        times = torch.arange(config.steps - 1, -1, -1, device=time.device, dtype=self.dtype)[:, None]
        self.from_time = torch.addmm(first.bias, model.cond_encoder(model.time_preprocess(times)), time)[:, None]
        blocks = [network.get_submodule(f"MLPResNetBlock_{index}") for index in range(config.blocks)]
        self.blocks = [_Block(cast(ResidualMlp, block)) for block in blocks]
        self.out, self.out_bias = network.Dense_1.kernel.detach(), network.Dense_1.bias.detach()
        self.steps = [_step(head, t) for t in range(config.steps - 1, -1, -1)]

    def sample(self, embedding: Tensor, first: Tensor, later: Tensor) -> Tensor:
        """embedding (B, dim), `first` noise (B, A), `later` noise (steps, B, A) -> (B, horizon, action_dim)."""
        known = self.from_time + embedding.to(self.dtype) @ self.from_embedding  # (steps, B, hidden)
        most, x = self.config.max_action, first.float()
        for k, (scale, share, spread) in enumerate(self.steps):
            noise = self._predict(known[k], x.to(self.dtype)).float()
            x = (x * scale).sub_(noise, alpha=share)
            if spread:
                x.add_(later[k], alpha=spread)
            x.clamp_(-most, most)
        return x.view(len(x), self.config.horizon, self.config.action_dim)

    def _predict(self, known: Tensor, actions: Tensor) -> Tensor:
        x = torch.addmm(known, actions, self.from_actions)
        for block in self.blocks:
            x = block(x)
        return torch.addmm(self.out_bias, F.silu(x), self.out)


class _Block:
    def __init__(self, block: ResidualMlp) -> None:
        norm = getattr(block, "LayerNorm_0", None)
        self.norm = None if norm is None else (norm.scale.detach(), norm.bias.detach())
        self.wide, self.wide_bias = block.Dense_0.kernel.detach(), block.Dense_0.bias.detach()
        self.narrow, self.narrow_bias = block.Dense_1.kernel.detach(), block.Dense_1.bias.detach()

    def __call__(self, x: Tensor) -> Tensor:
        normed = x if self.norm is None else F.layer_norm(x, x.shape[-1:], *self.norm, eps=1e-6)
        wide = F.silu(torch.addmm(self.wide_bias, normed, self.wide), inplace=True)
        return torch.addmm(self.narrow_bias, wide, self.narrow).add_(x)


def _step(head: DiffusionHead, t: int) -> tuple[float, float, float]:
    """x becomes scale * x - share * predicted noise + spread * new noise; none is added at the end."""
    schedule = head.schedule
    scale = float(1 / np.sqrt(schedule.alphas[t]))
    share = float((1 - schedule.alphas[t]) / np.sqrt(1 - schedule.remaining[t]))
    return scale, scale * share, float(np.sqrt(schedule.betas[t])) if t > 0 else 0.0
