"""OpenVLA's vision towers in fewer calls: the numbers of `VisionTower`, up to rounding."""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.networks.openvla import TowerBlock, VisionTower


class FastTower:
    """Cutting into patches is a reshape and one product, so that tokens lie as the blocks read them from the start."""

    def __init__(self, tower: VisionTower) -> None:
        self.config = tower.config
        self.kernel = tower.patch_embed.proj.weight.detach().flatten(1)
        self.bias, self.positions = _frozen(tower.patch_embed.proj.bias), tower.pos_embed.detach()
        tokens = [token.detach() for token in (tower.cls_token, tower.reg_token) if token is not None]
        self.prefix = torch.cat(tokens, 1) if tokens else None
        self.blocks = [FastTowerBlock(cast(TowerBlock, block), self.config.norm_eps) for block in tower.blocks[:-1]]

    def __call__(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) normalised -> (B, patches, dim): the last block but one, without prefix and last norm."""
        x = F.linear(self._patches(image), self.kernel, self.bias) + self.positions
        if self.prefix is not None:
            x = torch.cat([self.prefix.expand(len(x), -1, -1), x], 1)
        for block in self.blocks:
            x = block(x)
        return x[:, self.config.prefix :]

    def _patches(self, image: Tensor) -> Tensor:
        """(B, 3, H, W) -> (B, patches, 3 * patch * patch), row by row; what is left over at the edges drops."""
        size, side = self.config.patch, self.config.image_size // self.config.patch
        whole = image[:, :, : side * size, : side * size]
        return (
            whole.reshape(len(image), 3, side, size, side, size)
            .permute(0, 2, 4, 1, 3, 5)
            .reshape(len(image), side**2, -1)
        )


class FastTowerBlock:
    def __init__(self, block: TowerBlock, eps: float) -> None:
        self.heads, self.eps = block.attn.heads, eps
        self.norm1, self.norm2 = _pair(block.norm1), _pair(block.norm2)
        self.qkv, self.proj = _pair(block.attn.qkv), _pair(block.attn.proj)
        self.fc1, self.fc2 = _pair(block.mlp.fc1), _pair(block.mlp.fc2)
        self.scale1, self.scale2 = _scale(block.ls1), _scale(block.ls2)

    def __call__(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        joint = F.linear(self._normed(x, self.norm1), *self.qkv).view(b, n, 3, self.heads, -1)
        q, k, v = joint.permute(2, 0, 3, 1, 4).unbind()
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        x = _add(x, F.linear(mixed, *self.proj), self.scale1)
        hidden = F.gelu(F.linear(self._normed(x, self.norm2), *self.fc1))
        return _add(x, F.linear(hidden, *self.fc2), self.scale2)

    def _normed(self, x: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], *norm, self.eps)


def _add(x: Tensor, change: Tensor, scale: Tensor | None) -> Tensor:
    return x + change if scale is None else torch.addcmul(x, change, scale)


def _pair(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """Weight and bias of a linear layer or norm."""
    return layer.get_parameter("weight").detach(), layer.get_parameter("bias").detach()


def _scale(layer: nn.Module) -> Tensor | None:
    return None if isinstance(layer, nn.Identity) else layer.get_parameter("scale_factor").detach()


def _frozen(parameter: Tensor | None) -> Tensor | None:
    return None if parameter is None else parameter.detach()
