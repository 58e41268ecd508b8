"""Initial weights, which decide how soon training makes progress."""

from __future__ import annotations

import torch
from torch import Tensor

from policies.networks.octo import Octo

POSITION = 0.5  # the scale of the stem's tokens


@torch.no_grad()
def initialise(network: Octo) -> None:
    """Change what the modules drew: T5's own rule for the text encoder, whose scores are not scaled, and positions that
    encode a cell's row and column."""
    config, parts = network.config, network.octo_transformer
    text = parts.get_submodule(f"task_tokenizers_{config.text.name}")
    for name, parameter in text.named_parameters():
        if name.endswith("shared.embedding"):
            parameter.normal_()
        elif name.endswith("relative_attention_bias.embedding"):
            parameter.normal_()  # heads differ in the neighbour that they look at, so that word order is learnt early
        elif name.endswith("SelfAttention.q.kernel"):
            parameter.mul_(config.text.encoder.head_dim**-0.5)
    parts.positions(f"task_{config.text.name}").normal_(0, POSITION)
    for camera in config.cameras:
        size = (camera.stem.cells(camera.height), camera.stem.cells(camera.width))
        positions = parts.positions(f"obs_{camera.name}")
        positions.copy_((POSITION * grid_waves(*size, config.dim)).expand_as(positions))


def grid_waves(rows: int, columns: int, dim: int) -> Tensor:
    """(rows * columns, dim): sines and cosines of the row, then of the column; a last odd quarter stays zero."""
    quarter = dim // 4
    rates = 20.0 ** -(torch.arange(quarter) / quarter)
    angles = (torch.arange(max(rows, columns))[:, None] * rates).float()
    waves = torch.cat([angles.sin(), angles.cos()], 1)
    of_row = waves[:rows, None].expand(rows, columns, -1)
    of_column = waves[None, :columns].expand(rows, columns, -1)
    both = torch.cat([of_row, of_column], -1).flatten(0, 1)
    return torch.nn.functional.pad(both, (0, dim - both.shape[1]))
