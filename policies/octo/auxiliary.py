"""Auxiliary heads and losses, trained with labels from the simulator and not shipped.

Without them a small network needs many times the frames to learn which pixels an instruction is about. They supervise
every stage: the stem's tokens (where all things are), the tokens in mid-transformer (which of them are meant), the
readout's attention (the cells of those), and the readout (what the action depends on).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.octo.one_frame import OneFrameOutput
from policies.training.batches import masked_mean

POINTED = 3  # object, target, tool: the first heads of the readout's attention look at them
_OBJECT, _TARGET, _TOOL = range(POINTED)
PIXEL, PLACE, TURN, ARM, ACTION = 2, 3, 2, 8, 7
WEIGHTS = {
    "noise": 1.0, "scene": 0.1, "scene_offset": 1.0, "pointer": 0.2, "pointer_offset": 1.0, "look": 0.2, "text": 0.2,
    "cell": 0.5, "cell_turn": 0.2, "cell_held": 0.1, "reading": 0.5, "turn": 0.2, "held": 0.1, "action": 0.5,
}  # fmt: skip


@dataclass(frozen=True)
class OctoLabels:
    """Labels of B frames for the instruction given. Places and ways in units of the data, pixels x, y in 0..1."""

    scene: Tensor  # (B, things + 1, 2) pixels of all things, the tool last
    pointed: Tensor  # (B, 3, 2) pixels of object, target, tool
    places: Tensor  # (B, 3, 3) of object, target, tool
    way: Tensor  # (B, 3) from the tool to the object
    arm: Tensor  # (B, 8) proprioception
    turn: Tensor  # (B, 2) sin 4a, cos 4a of the object against the tool
    held: Tensor  # (B,)
    own: Tensor  # (B,) 1 where turn and held belong to the instruction given
    roles: Tensor  # (B, 2) int64: which thing is object, which target
    actions: Tensor  # (B, chunk, 7) normalised
    mask: Tensor  # (B, chunk)


class AuxiliaryHeads(nn.Module):
    def __init__(self, dim: int, text_dim: int, things: int) -> None:
        super().__init__()
        self.things = things
        self.scene = nn.Linear(dim, 3 * (things + 1))
        self.norm = nn.LayerNorm(dim)
        self.pointer = nn.Linear(dim, 3 * POINTED)
        self.cell = _mlp(dim, (PIXEL + PLACE + TURN + 1) + (PIXEL + PLACE) + (PIXEL + ARM))
        self.reading = _mlp(dim, POINTED * (PIXEL + PLACE) + PLACE + ARM + TURN + 1 + ACTION)
        self.text = nn.Linear(text_dim, 2 * things)

    def forward(self, output: OneFrameOutput, labels: OctoLabels, present: Tensor) -> dict[str, Tensor]:
        """All terms except the noise. `present` (B, L): which tokens are text."""
        cells, inside = locate(labels.pointed, output.stem.shape[1])
        middle = self.norm(output.middle)
        scene, scene_offset = _maps(self.scene(output.stem), labels.scene)
        pointer, pointer_offset = _maps(self.pointer(middle), labels.pointed)
        terms = {"scene": scene, "scene_offset": scene_offset, "pointer": pointer, "pointer_offset": pointer_offset}
        looks = [_look(scores, cells, inside, output.stem.shape[1]) for scores in output.readout_scores]
        terms["look"] = torch.stack(looks).sum()
        terms["text"] = self._text(output.text, present, labels.roles)
        index = cells[..., None].expand(-1, -1, middle.shape[-1])
        terms |= _at_cells(self.cell(middle.gather(1, index)).float(), labels, inside.float())
        return terms | _at_readout(self.reading(output.readout).float(), labels)

    def _text(self, states: Tensor, present: Tensor, roles: Tensor) -> Tensor:
        """Which thing is the object and which the target, from the mean over the words."""
        mean = (states * present[..., None]).sum(1) / present.sum(1, keepdim=True)
        logits = self.text(mean).float().unflatten(-1, (2, self.things))
        return F.cross_entropy(logits.flatten(0, 1), roles.flatten()) * 2


def _mlp(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, 128), nn.ReLU(), nn.Linear(128, outputs))


def locate(pixels: Tensor, cells: int) -> tuple[Tensor, Tensor]:
    """pixels (B, n, 2) -> the cell of each, row by row (B, n), and whether it is in the picture (B, n)."""
    side = round(cells**0.5)
    inside = ((pixels >= 0) & (pixels < 1)).all(-1)
    column, row = (torch.where(inside[..., None], pixels, 0.0) * side).long().unbind(-1)
    return row * side + column, inside


def _maps(output: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
    """output (B, cells, 3 n): a map for each of n things, then the offset within the cell where the thing is."""
    count, side = pixels.shape[1], round(output.shape[1] ** 0.5)
    index, inside = locate(pixels, output.shape[1])
    cross = F.cross_entropy(output[..., :count].float(), index, reduction="none")
    offsets = output[..., count:].float().view(*output.shape[:2], count, PIXEL)
    found = offsets.gather(1, index[:, None, :, None].expand(-1, 1, -1, PIXEL))[:, 0]
    wanted = (pixels * side).frac() - 0.5
    return masked_mean(cross, inside), masked_mean((found - wanted).abs().mean(-1), inside)


def _look(scores: Tensor, cells: Tensor, inside: Tensor, count: int) -> Tensor:
    """The first heads' attention against the cells; scores (B, heads, T): text, then cells, then the readout."""
    before = scores.shape[-1] - 1 - count
    cross = F.cross_entropy(scores[:, :POINTED].float().flatten(0, 1), before + cells.flatten(), reduction="none")
    return masked_mean(cross, inside.flatten())


def _at_cells(output: Tensor, labels: OctoLabels, inside: Tensor) -> dict[str, Tensor]:
    """Regressions from the tokens about the thing in their cell; output (B, 3, all)."""
    pixels, known = labels.pointed * 4 - 2, PIXEL + PLACE
    rest = known + TURN + 1
    of, at, tool = output[:, _OBJECT, :rest], output[:, _TARGET, rest : rest + known], output[:, _TOOL, rest + known :]
    errors = [
        (of[:, :known] - torch.cat([pixels[:, _OBJECT], labels.places[:, _OBJECT]], 1)).abs().mean(1),
        (at - torch.cat([pixels[:, _TARGET], labels.places[:, _TARGET]], 1)).abs().mean(1),
        (tool - torch.cat([pixels[:, _TOOL], labels.arm], 1)).abs().mean(1),
    ]
    turn = (of[:, known : known + TURN] - labels.turn).abs().mean(1)
    return {
        "cell": (torch.stack(errors, 1) * inside).sum(1).mean(),
        "cell_turn": (turn * labels.own).mean(),
        "cell_held": _binary(of[:, known + TURN], labels),
    }


def _at_readout(output: Tensor, labels: OctoLabels) -> dict[str, Tensor]:
    """Regressions of what the action depends on, and of the action itself."""
    sizes = (POINTED * PIXEL, POINTED * PLACE, PLACE, ARM, TURN, 1, ACTION)
    pixels, places, way, arm, turn, held, action = torch.split(output, list(sizes), 1)
    wanted = (labels.pointed.clamp(0, 1).flatten(1) * 4 - 2, labels.places.flatten(1), labels.way, labels.arm)
    errors = [(got - want).abs().mean() for got, want in zip((pixels, places, way, arm), wanted, strict=True)]
    return {
        "reading": torch.stack(errors).sum(),
        "turn": ((turn - labels.turn).abs().mean(1) * labels.own).mean(),
        "held": _binary(held[:, 0], labels),
        "action": (action - labels.actions[:, 0]).abs().mean(),
    }


def _binary(logits: Tensor, labels: OctoLabels) -> Tensor:
    return (F.binary_cross_entropy_with_logits(logits, labels.held, reduction="none") * labels.own).mean()
