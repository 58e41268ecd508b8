"""From the outputs of the FiLM network to actions in network units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.film.sizes import BIN_RANGE, LINEAR_DIMS, MOVE_DIMS

Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
PARTS = MOVE_DIMS + 2
"""What is drawn where a hand has stalled: the parts of the move, the turn and the fingers."""


def decode(action: Floats, moves: Floats | None = None, numbers: Numbers | None = None) -> NDArray[np.float64]:
    """(chunk, 5 + bins + 1), and (chunk, 3, bins) of a network that has distributions of its moves -> (chunk, 7), the
    gripper 0 or 1. With `numbers` (PARTS,), 0..1, they draw the move, the turn and the fingers, alike for all actions
    of the chunk; without, it is the move in numbers, the likeliest turn and the likelier of open and closed.
    """
    linear, turn, opened = action[:, :LINEAR_DIMS], action[:, LINEAR_DIMS:-1], action[:, -1]
    if moves is None or numbers is None:
        return np.column_stack([linear, decode_bins(turn), opened > 0]).astype(np.float64)
    move, around, fingers = np.split(numbers, [MOVE_DIMS, MOVE_DIMS + 1])
    linear = np.column_stack([decode_bins(moves, move), linear[:, MOVE_DIMS:]])
    open_share = 1 / (1 + np.exp(-opened))
    return np.column_stack([linear, decode_bins(turn, around), open_share > fingers]).astype(np.float64)


def decode_bins(logits: Floats, numbers: Numbers | None = None) -> Floats:
    """(..., bins) -> (...), the mean over one bin and its two neighbours, never over two distant modes: over the most
    likely one, or over that which the numbers, broadcast to (...), draw.
    """
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    chosen = odds.argmax(-1) if numbers is None else _drawn(odds, numbers)
    near = np.abs(np.arange(logits.shape[-1]) - chosen[..., None]) <= 1
    weight = odds * near
    centres = np.linspace(-BIN_RANGE, BIN_RANGE, logits.shape[-1], dtype=np.float32)
    found: Floats = (weight @ centres) / weight.sum(-1)
    return found


def _drawn(odds: Floats, numbers: Numbers) -> NDArray[np.intp]:
    shares = odds.cumsum(-1) / odds.sum(-1, keepdims=True)
    found: NDArray[np.intp] = np.minimum((shares < numbers[..., None]).sum(-1), odds.shape[-1] - 1)
    return found
