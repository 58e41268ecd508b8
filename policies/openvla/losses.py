"""Losses of openvla-mini: action tokens, and what they depend on."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from policies.networks.openvla_sizes import OpenVLAConfig
from policies.training.batches import masked_mean

REACH = 0.1  # metres per unit
BIN_SPREAD = 2.0  # standard deviation of the soft targets, in bins
DIM_WEIGHTS = (1.0, 1.0, 1.0, 0.3, 0.3, 0.6, 1.0)
WEIGHTS = {
    "tokens": 1.0,
    "look": 0.2,
    "action": 1.0,
    "ways": 1.0,
    "where": 0.1,
    "offset": 1.0,
    "vector": 1.0,
    "turn": 0.2,
    "arm": 0.3,
    "held": 0.1,
}


@dataclass(frozen=True)
class SceneLabels:
    cells: Tensor  # int64 (B, T): image token that holds each thing's centre, the tool last; -1 outside the picture
    offsets: Tensor  # (B, T, 2) -0.5..0.5 within the cell
    vectors: Tensor  # (B, T, 3) from the tool; for the tool itself from the middle of the data; units of REACH
    named: Tensor  # int64 (B,): the thing that the demonstration's instruction names
    turn: Tensor  # (B, 2) of the named thing; 0 0 does not count
    held: Tensor  # (B,) of the named thing
    arm: Tensor  # (B, 8) normalised proprioception


@dataclass(frozen=True)
class ActionLabels:
    digits: Tensor  # int64 (B, K, 7): 1..bins
    actions: Tensor  # (B, K, 7) in -1..1, the gripper 0..1
    roles: Tensor  # int64 (B, K, 2): object and target among the things


class SoftBins:
    """Cross-entropy against a narrow bell over the bins, whose neighbours are nearly right."""

    def __init__(self, config: OpenVLAConfig) -> None:
        self.first = config.base_vocabulary - config.action_bins
        bins = torch.arange(config.action_bins)
        bell = torch.exp(-0.5 * ((bins[:, None] - bins[None]) / BIN_SPREAD) ** 2)
        bell = bell / bell.sum(1, keepdim=True)
        self.table = bell.flip(0, 1)  # ids count down: digit d is id base - d

    def __call__(self, logits: Tensor, digits: Tensor) -> Tensor:
        """(..., vocabulary) and (...,) -> (...,) nats over the whole vocabulary."""
        row = self.table.shape[0] - digits
        target = self.table.to(logits.device)[row]
        log = logits.float().log_softmax(-1)[..., self.first : self.first + self.table.shape[0]]
        return -(target * log).sum(-1)


def scene_losses(found: dict[str, Tensor], labels: SceneLabels) -> dict[str, Tensor]:
    inside = labels.cells >= 0
    cells = labels.cells.clamp(min=0)
    cross = F.cross_entropy(found["where"].float(), cells, reduction="none")
    batch, things = torch.arange(len(cells))[:, None], torch.arange(cells.shape[1])[None]
    place = found["place"][batch, cells, things].float()  # (B, T, 5)
    row, cell = torch.arange(len(cells)), cells[torch.arange(len(cells)), labels.named]
    turn = found["turn"][row, cell, labels.named].float()
    held = found["held"][row, cell, labels.named].float()
    arm = found["arm"][row, cells[:, -1]].float()
    return {
        "where": masked_mean(cross, inside),
        "offset": masked_mean((place[..., :2] - labels.offsets).abs().mean(-1), inside),
        "vector": masked_mean((place[..., 2:] - labels.vectors).abs().mean(-1), inside),
        "turn": masked_mean((turn - labels.turn).abs().mean(-1), (labels.turn != 0).any(-1)),
        "arm": (arm - labels.arm).abs().mean(),
        "held": F.binary_cross_entropy_with_logits(held, labels.held),
    }


def action_losses(
    logits: Tensor, guess: tuple[Tensor, Tensor], look: Tensor, scene: SceneLabels, labels: ActionLabels, bins: SoftBins
) -> dict[str, Tensor]:
    """logits (B, K, 7, V); guess of the action head; look (B, K, heads, 7, P) log attention, of which the first three
    heads learn to look at object, target and tool."""
    weights = logits.new_tensor(DIM_WEIGHTS)
    action, ways = guess
    straight = (action[..., :6].float() - labels.actions[..., :6]).abs() * weights[:6]
    grip = F.binary_cross_entropy_with_logits(action[..., 6].float(), labels.actions[..., 6])
    batch = torch.arange(len(labels.roles))[:, None, None]
    tool = torch.full_like(labels.roles[..., :1], scene.cells.shape[1] - 1)
    cells = scene.cells[batch, torch.cat([labels.roles, tool], -1)]  # (B, K, 3)
    at = cells.clamp(min=0)[..., None, None].expand(-1, -1, -1, look.shape[3], 1)
    missed = -look[:, :, :3].gather(-1, at)[..., 0].mean(-1)  # (B, K, 3)
    return {
        "tokens": (bins(logits, labels.digits) * weights).sum(-1).mean() / weights.sum(),
        "look": masked_mean(missed, cells >= 0),
        "action": straight.mean() + 0.2 * grip,
        "ways": (ways.float() - scene.vectors[batch, labels.roles]).abs().mean(),
    }
