"""Auxiliary heads, trained with labels from the simulator and not shipped. They make a small network learn fast.

`SceneHeads` read from the image tokens where everything is. `ActionHead` reads from the last token of the prompt the
action and what it depends on.
"""

from __future__ import annotations

from torch import Tensor, nn

PROPRIOCEPTION = 8
OFFSET, VECTOR = 2, 3  # x, y within the cell; x, y, z from the tool


class SceneHeads(nn.Module):
    """Per image token and thing (the tool last): is its centre here, where in the cell, which way from the tool."""

    def __init__(self, dim: int, things: int) -> None:
        super().__init__()
        self.things = things + 1
        self.norm = nn.LayerNorm(dim)
        self.where = nn.Linear(dim, self.things)
        self.place = nn.Linear(dim, self.things * (OFFSET + VECTOR))
        self.turn = nn.Linear(dim, things * 2)  # sin 4a, cos 4a of its yaw against the tool
        self.arm = nn.Linear(dim, PROPRIOCEPTION)
        self.held = nn.Linear(dim, things)

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        """(B, P, dim) -> where (B, P, T), place (B, P, T, 5), turn (B, P, T-1, 2), arm (B, P, 8), held (B, P, T-1)."""
        x = self.norm(features)
        b, p, _ = x.shape
        return {
            "where": self.where(x),
            "place": self.place(x).view(b, p, self.things, -1),
            "turn": self.turn(x).view(b, p, self.things - 1, 2),
            "arm": self.arm(x),
            "held": self.held(x),
        }


class ActionHead(nn.Module):
    """From a hidden state: the action (7), and the ways from the tool to object and target (2 x 3)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.action = nn.Linear(dim, 7)
        self.ways = nn.Linear(dim, 2 * VECTOR)

    def forward(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        ways: Tensor = self.ways(hidden)
        return self.action(hidden), ways.view(*ways.shape[:-1], 2, VECTOR)
