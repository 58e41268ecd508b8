"""Losses of the FiLM network, in network units. Labels come from the demonstrations."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from policies.film.sizes import BIN_RANGE, LINEAR_DIMS, MOVE_DIMS, SUPERVISED_MAPS
from policies.networks.film import FilmOutput
from policies.training.batches import masked_mean, weighted_sum

STEP_WEIGHTS = (1.0, 0.8, 0.6, 0.5)  # the first action of a chunk is always played, later ones less often
WEIGHTS = {
    "linear": 1.0,
    "yaw": 0.12,
    "moves": 0.36,
    "gripper": 0.25,
    "map": 0.05,
    "point": 2.0,
    "place": 0.3,
    "held": 0.05,
    "turn": 0.1,
    "stage": 0.2,
}


class FilmLabels(NamedTuple):
    actions: Tensor  # (B, chunk, 7) normalised
    mask: Tensor  # (B, chunk) 1 where the label counts
    pixels: Tensor  # (B, 3, 2) x, y in 0..1 of object, target, tool; outside the picture they do not count
    places: Tensor  # (B, 2, 3) normalised xyz of object and target
    held: Tensor  # (B,) 0 or 1
    turn: Tensor  # (B, 2) sin 4a, cos 4a; 0 0 does not count
    stage: Tensor  # (B,) int64, how many stages of the goal are reached


def bin_target(values: Tensor, bins: int) -> Tensor:
    """(...,) -> (..., bins): each value shared between its two nearest bins, whose weighted mean is exact."""
    position = (values.clamp(-BIN_RANGE, BIN_RANGE) + BIN_RANGE) * ((bins - 1) / (2 * BIN_RANGE))
    low = position.floor().clamp(max=bins - 2).long()
    part = (position - low).unsqueeze(-1)
    return F.one_hot(low, bins) * (1 - part) + F.one_hot(low + 1, bins) * part


def losses(output: FilmOutput, labels: FilmLabels) -> dict[str, Tensor]:
    """Every term, and their weighted sum as "total"."""
    weight = labels.mask * labels.mask.new_tensor(STEP_WEIGHTS[: labels.mask.shape[1]])
    weight = weight / weight.sum().clamp(min=1e-6)  # (B, chunk), sums to one
    terms = {
        "linear": ((output.linear - labels.actions[..., :LINEAR_DIMS]).abs().mean(-1) * weight).sum(),
        "yaw": (_bin_loss(output.yaw, labels.actions[..., 5]) * weight).sum(),
        "moves": (_moves_loss(output, labels.actions[..., :MOVE_DIMS]) * weight).sum(),
        "gripper": (_binary(output.gripper, labels.actions[..., 6]) * weight).sum(),
        "held": _binary(output.held, labels.held).mean(),
        "turn": masked_mean((output.turn - labels.turn).abs().mean(-1), (labels.turn != 0).any(-1)),
        "place": (output.places - labels.places).abs().mean(),
        "stage": _stage_loss(output, labels.stage),
        **_point_losses(output, labels.pixels),
    }
    return terms | {"total": weighted_sum(terms, WEIGHTS)}


def _bin_loss(logits: Tensor, values: Tensor) -> Tensor:
    """Cross-entropy (...,) of logits (..., bins) against values (...,)."""
    return -(bin_target(values, logits.shape[-1]) * logits.log_softmax(-1)).sum(-1)


def _moves_loss(output: FilmOutput, moves: Tensor) -> Tensor:
    """(B, chunk); zero for a network whose moves are numbers."""
    return moves.new_zeros(moves.shape[:-1]) if output.moves is None else _bin_loss(output.moves, moves).mean(-1)


def _stage_loss(output: FilmOutput, stage: Tensor) -> Tensor:
    """Zero for a network without a memory."""
    return output.held.new_zeros(()) if output.stage is None else F.cross_entropy(output.stage, stage)


def _point_losses(output: FilmOutput, pixels: Tensor) -> dict[str, Tensor]:
    """Cross-entropy of the supervised maps against the labelled cell, and distance of their keypoints."""
    size = output.map_logits.shape[-1]
    inside = ((pixels >= 0) & (pixels < 1)).all(-1)  # (B, 3)
    safe = torch.where(inside[..., None], pixels, 0.0)
    cell = (safe * size).long()
    index = cell[..., 1] * size + cell[..., 0]
    cross = F.cross_entropy(output.map_logits.flatten(2).transpose(1, 2), index, reduction="none")
    distance = (output.keypoints[:, :SUPERVISED_MAPS] - safe).abs().mean(-1)
    return {"map": masked_mean(cross, inside), "point": masked_mean(distance, inside)}


def _binary(logits: Tensor, target: Tensor) -> Tensor:
    return F.binary_cross_entropy_with_logits(logits, target, reduction="none")
