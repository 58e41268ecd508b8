"""The FiLM network: one camera image, one sentence and the arm's own readings in, a chunk of actions out.

Text modulates every visual block (FiLM: Perez et al. 2018); the picture is read out as softmax keypoints
(spatial softmax: Finn et al. 2016), whose absolute image coordinates go straight to the action head. The turn about
the vertical is a distribution over bins, not a number: a cube looks the same every 90 degrees, so at 45 degrees
two answers are right and their average is wrong. Of the move there may be both: a number, which is exact, and bins,
which tell what else it might be (`film.stalling`).
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from policies.film.sizes import GREY, LINEAR_DIMS, MOVE_DIMS, NORM_EPS, NORM_GROUPS, SUPERVISED_MAPS, FilmConfig

__all__ = ["GREY", "LINEAR_DIMS", "SUPERVISED_MAPS", "FilmConfig", "FilmNetwork", "FilmOutput", "patches", "stacked"]


def patches(image: Tensor, patch: int) -> Tensor:
    """uint8 (B, H, W, 3) -> uint8 (B, 3 * patch**2, H / patch, W / patch) in channels_last memory, nothing lost.

    Cheaper than a strided convolution over full-size pictures, whose element-wise steps cost half the training time.
    """
    b, h, w, c = image.shape
    cells = image.view(b, h // patch, patch, w // patch, patch * c).transpose(2, 3)
    return cells.reshape(b, h // patch, w // patch, patch * patch * c).permute(0, 3, 1, 2)


def stacked(now: Tensor, first: Tensor | None) -> Tensor:
    """What the network sees of two pictures from `patches`: the present one, then that of the turn's beginning."""
    return now if first is None else torch.cat([now, first], 1)


class FilmOutput(NamedTuple):
    linear: Tensor  # (B, chunk, 5) normalised dx, dy, dz, droll, dpitch
    yaw: Tensor  # (B, chunk, yaw_bins) logits
    gripper: Tensor  # (B, chunk) logit of "open"
    map_logits: Tensor  # (B, 3, S, S) of object, target, tool
    keypoints: Tensor  # (B, keypoints, 2) x, y in 0..1 of the image
    places: Tensor  # (B, 2, 3) normalised xyz of object and target
    held: Tensor  # (B,) logit
    turn: Tensor  # (B, 2) sin 4a, cos 4a of the object's yaw against the gripper
    stage: Tensor | None  # (B, stages) logits of how many stages of the goal are reached; None without a memory
    moves: Tensor | None  # (B, chunk, 3, move_bins) logits of dx, dy, dz; None where they are numbers alone


def _middles(size: int) -> Tensor:
    """x, y of the middle of every cell of a map, 0..1, (size * size, 2); on the meta device without numbers."""
    grid = torch.empty(size * size, 2)
    if not grid.is_meta:
        axis = (torch.arange(size, dtype=torch.float32) + 0.5) / size
        grid[:, 0], grid[:, 1] = axis.repeat(size), axis.repeat_interleave(size)
    return grid


class TextEncoder(nn.Module):
    """Words in order: a bidirectional GRU, averaged over the words that are there."""

    def __init__(self, config: FilmConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary, config.text_dim, padding_idx=0)
        self.gru = nn.GRU(config.text_dim, config.text_hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * config.text_hidden, config.text_dim)

    def forward(self, tokens: Tensor) -> Tensor:
        """tokens (B, L) int64, 0 pads the end -> (B, text_dim)."""
        lengths = (tokens != 0).sum(1).clamp(min=1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)  # (B, L', 2H)
        mean = states.sum(1) / lengths.to(states.dtype)[:, None]  # padded states are zero
        return F.relu(self.out(mean))


class FilmBlock(nn.Module):
    """Residual block whose features are scaled and shifted by the sentence."""

    def __init__(self, channels: int, dilation: int, text_dim: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=dilation, dilation=dilation, bias=False)
        self.norm = nn.GroupNorm(NORM_GROUPS, channels, NORM_EPS, affine=False)
        self.film = nn.Linear(text_dim, 2 * channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor, text: Tensor) -> Tensor:
        scale, shift = self.film(text)[:, :, None, None].chunk(2, 1)  # (B, C, 1, 1) each
        h = F.relu(self.norm(self.conv1(x)) * (1 + scale) + shift)
        return F.relu(x + self.conv2(h))


class StageMemory(nn.Module):
    """What the policy noticed before, as a change of the sentence; and what it notices now.

    The change begins as zero, so that a network that had no memory acts as before until it learns to use one.
    """

    def __init__(self, config: FilmConfig) -> None:
        super().__init__()
        self.stages = config.stages
        self.recall = nn.Sequential(nn.Linear(config.text_dim + config.stages, config.text_dim), nn.ReLU())
        self.change = nn.Linear(config.text_dim, config.text_dim)
        self.notice = nn.Sequential(nn.Linear(config.read_out, 64), nn.ReLU(), nn.Linear(64, config.stages))
        nn.init.zeros_(self.change.weight)
        nn.init.zeros_(self.change.bias)

    def forward(self, text: Tensor, stage: Tensor) -> Tensor:
        """text (B, text_dim), stage (B,) int64: how many stages were reached -> (B, text_dim)."""
        known = F.one_hot(stage, self.stages).to(text.dtype)
        changed: Tensor = text + self.change(self.recall(torch.cat([text, known], 1)))
        return changed


class FilmNetwork(nn.Module):
    grid: Tensor  # (S * S, 2) x, y of every cell's middle, 0..1

    def __init__(self, config: FilmConfig) -> None:
        super().__init__()
        self.config = config
        c, size = config.channels, config.map_size
        self.text = TextEncoder(config)
        self.stem1 = nn.Conv2d(3 * config.patch**2 * config.pictures, config.stem, 3, padding=1)
        self.stem2 = nn.Conv2d(config.stem, c, 3, padding=1)
        self.place = nn.Parameter(torch.zeros(1, c, size, size))  # learned position embedding
        self.blocks = nn.ModuleList(FilmBlock(c, d, config.text_dim) for d in config.dilations)
        self.maps = nn.Conv2d(c, config.keypoints + config.pools, 1)
        self.head = nn.Sequential(
            nn.Linear(config.read_out, config.hidden),
            nn.LayerNorm(config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
        )
        self.action = nn.Linear(config.hidden, config.chunk * (LINEAR_DIMS + config.yaw_bins + 1))
        moves = config.chunk * MOVE_DIMS * config.move_bins
        self.moves = nn.Linear(config.hidden, moves) if moves else None
        self.aux = nn.Sequential(nn.Linear(config.read_out, 64), nn.ReLU(), nn.Linear(64, 6 + 1 + 2))
        self.memory = StageMemory(config) if config.stages else None
        self.register_buffer("grid", _middles(size), persistent=False)

    def forward(self, image: Tensor, text: Tensor, proprioception: Tensor, stage: Tensor | None = None) -> FilmOutput:
        """image (B, 3 * patch**2 * pictures, S, S) from `stacked`, text (B, text_dim) from `self.text`, proprioception
        (B, 8), stage (B,) int64 for a network with a memory: how many stages it noticed before.
        """
        if self.memory is not None:
            text = self.memory(text, text.new_zeros(len(text), dtype=torch.long) if stage is None else stage)
        x = F.relu(self.stem1(image))
        x = self.stem2(x)
        x = F.relu(x + self.place.to(x.dtype))
        for block in self.blocks:
            x = block(x, text)
        return self.read(x, self.maps(x), text, proprioception)

    def read(self, x: Tensor, maps: Tensor, text: Tensor, proprioception: Tensor) -> FilmOutput:
        config = self.config
        features = x.flatten(2).float()  # (B, C, S*S)
        logits = maps.flatten(2).float()  # (B, K+P, S*S)
        weights = logits.softmax(-1)
        points = weights[:, : config.keypoints] @ self.grid  # (B, K, 2)
        pooling = torch.cat([weights[:, :SUPERVISED_MAPS], weights[:, config.keypoints :]], 1)
        pooled = pooling @ features.transpose(1, 2)  # (B, 3+P, C)
        read = torch.cat([points.flatten(1) * 2 - 1, pooled.flatten(1), text, proprioception], 1)
        chosen = self.head(read)
        action = self.action(chosen).float().unflatten(1, (config.chunk, -1))
        moves = None if self.moves is None else self.moves(chosen).float().unflatten(1, (config.chunk, MOVE_DIMS, -1))
        aux = self.aux(read).float()
        return FilmOutput(
            linear=action[..., :LINEAR_DIMS],
            yaw=action[..., LINEAR_DIMS:-1],
            gripper=action[..., -1],
            map_logits=maps[:, :SUPERVISED_MAPS].float(),
            keypoints=points,
            places=aux[:, :6].unflatten(1, (2, 3)),
            held=aux[:, 6],
            turn=aux[:, 7:9],
            stage=None if self.memory is None else self.memory.notice(read).float(),
            moves=moves,
        )
