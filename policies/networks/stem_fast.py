"""A camera's stem with its filters standardised beforehand: `Octo.image_tokens`, projected, up to rounding."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from policies.networks.flax_layers import Conv
from policies.networks.octo import Octo, Stem
from policies.networks.octo_sizes import CameraConfig

LAST = torch.channels_last  # pictures come with their channels last, and convolutions take them so without turning


@dataclass(frozen=True)
class _Layer:
    weight: Tensor  # (out, in, height, width)
    bias: Tensor
    stride: int
    padding: int

    @classmethod
    def of(cls, conv: Conv) -> _Layer:
        weight = conv.weight().detach().permute(3, 2, 0, 1).contiguous(memory_format=LAST)
        return cls(weight, conv.bias.detach(), conv.stride, conv.padding)

    def __call__(self, x: Tensor) -> Tensor:
        return F.conv2d(x, self.weight, self.bias, self.stride, self.padding)


class FastStem:
    """Pictures without a goal beside them. What the empty goal adds to the first layer is a constant map."""

    @torch.inference_mode()
    def __init__(self, network: Octo, camera: CameraConfig) -> None:
        tokenizer = network.octo_transformer.get_submodule(f"observation_tokenizers_{camera.name}")
        stem = next(part for part in tokenizer.children() if isinstance(part, Stem))
        count = len(stem.config.features)
        self.layers = [_Layer.of(stem.get_submodule(f"StdConv_{index}")) for index in range(count)]  # type: ignore[arg-type]
        norms = [stem.get_submodule(f"GroupNorm_{index}") for index in range(count)]
        self.norms = [(norm.get_parameter("scale").detach(), norm.get_parameter("bias").detach()) for norm in norms]
        self.groups = stem.config.norm_groups
        self.embedding = _Layer.of(stem.embedding)
        projection = network.octo_transformer.get_submodule(f"obs_{camera.name}_projection")
        self.projection = projection.get_parameter("kernel").detach(), projection.get_parameter("bias").detach()
        self.dtype = self.embedding.bias.dtype
        self.empty_goal = self._leave_out_goal(camera) if camera.goal else None

    def __call__(self, pictures: Tensor) -> Tensor:
        """uint8 (B, H, W, 3) -> (B, tokens, dim), before positions are added."""
        x = (pictures.to(self.dtype) / 127.5 - 1.0).permute(0, 3, 1, 2)
        for index, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            x = layer(x)
            if index == 0 and self.empty_goal is not None:
                x = x + self.empty_goal
            x = F.relu_(F.group_norm(x, self.groups, *norm, eps=1e-6))
        cells = self.embedding(x).flatten(2).transpose(1, 2)
        kernel, bias = self.projection
        return torch.addmm(bias, cells.flatten(0, 1), kernel).view(*cells.shape[:2], -1)

    def _leave_out_goal(self, camera: CameraConfig) -> Tensor:
        """Cut the goal's channels off the first filters and answer what they make of zeros, which scale to -1."""
        first = self.layers[0]
        seen, goal = first.weight[:, :3].contiguous(memory_format=LAST), first.weight[:, 3:]
        self.layers[0] = _Layer(seen, first.bias, first.stride, first.padding)
        nothing = -torch.ones(1, 3, camera.height, camera.width, dtype=goal.dtype, device=goal.device)
        return F.conv2d(nothing, goal, None, first.stride, first.padding).contiguous(memory_format=LAST)
