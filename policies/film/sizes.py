"""Sizes of the FiLM network, and the units of what it sees. Needs no network library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from policies.base import BadCard
from policies.config_sizes import check_sizes

LINEAR_DIMS = 5  # dx, dy, dz, droll, dpitch: regressed
MOVE_DIMS = 3  # the first of these, which may be distributions as well
GREY = 128.0  # a picture is (pixel - GREY) / GREY
SUPERVISED_MAPS = 3  # keypoints with pixel labels: named object, target, tool
BIN_RANGE = 1.1  # bins span -BIN_RANGE .. BIN_RANGE network units
NORM_GROUPS, NORM_EPS = 4, 1e-5


@dataclass(frozen=True)
class FilmConfig:
    """Sizes of the network. Everything needed to build it again, stored in policy.json."""

    vocabulary: int
    image_size: int = 128
    patch: int = 4  # pixels per cell of the maps
    stem: int = 48
    channels: int = 32
    dilations: tuple[int, ...] = (1, 2, 3)
    keypoints: int = 24  # maps read as (x, y); the first SUPERVISED_MAPS have labels
    pools: int = 4  # further maps that only weigh features
    text_dim: int = 64
    text_hidden: int = 48
    proprioception: int = 8
    chunk: int = 4
    yaw_bins: int = 21
    hidden: int = 256
    pictures: int = 1  # 2: also that of the turn's beginning, from which "moved" and "turned" are told
    stages: int = 0  # of a goal that the policy can count as reached, from none; 0: it remembers no stage
    move_bins: int = 0  # of dx, dy and dz each, to draw from where the hand has stalled; 0: it has numbers alone

    def __post_init__(self) -> None:
        if self.pictures not in (1, 2):
            raise ValueError(f"pictures: expected 1 or 2, got {self.pictures}")
        if self.move_bins == 1:
            raise ValueError("move_bins: expected 0 or at least 2, got 1")

    @property
    def map_size(self) -> int:
        return self.image_size // self.patch

    @property
    def read_out(self) -> int:
        pooled = (SUPERVISED_MAPS + self.pools) * self.channels
        return 2 * self.keypoints + pooled + self.text_dim + self.proprioception


def read_sizes(sizes: Mapping[str, Any], words: int) -> FilmConfig:
    """The sizes in a card's `network`. Raises BadCard; `words`: tokens of the folder's tokenizer."""
    known = {field.name for field in fields(FilmConfig)}
    if unknown := sorted(set(sizes) - known):
        raise BadCard(f"policy.json: network has unknown sizes {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    try:
        config = FilmConfig(**{**sizes, "dilations": tuple(sizes["dilations"])})
    except (KeyError, TypeError, ValueError) as error:
        raise BadCard(f"policy.json: network: {error}") from None
    check_sizes(config, "policy.json: network")
    if config.vocabulary != words:
        raise BadCard(f"policy.json: vocabulary {config.vocabulary}, but tokenizer.json has {words} tokens")
    return config
