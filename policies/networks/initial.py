"""Initial weights, which `policies.checkpoints.build` leaves out."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def drawn(*shape: int, deviation: float) -> Tensor:
    """Normal random numbers with a mean of zero."""
    return nn.init.normal_(torch.empty(*shape), std=deviation)
