"""Folders as published play in the arena's own world: it renders the pictures at the size that each network takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from robots.players import open_folder
from simulation.contracts import Limits
from simulation.environment import Environment
from tests.policies.tiny_networks import write_octo, write_openvla


@pytest.mark.parametrize(("write", "size"), [(write_openvla, (28, 28)), (write_octo, (48, 64))])
def test_a_published_folder_plays_a_rollout(
    tmp_path: Path, write: Callable[[Path], Path], size: tuple[int, int]
) -> None:
    environment = Environment("widowx", "table")
    environment.reset(0)
    player = open_folder(write(tmp_path / "published"), environment)
    assert [(camera.name, camera.height, camera.width) for camera in player.cameras] == [("workspace", *size)]
    result = player.play(environment, "pick up the cube", seed=1, limits=Limits(max_steps=3))
    assert (result.steps, result.termination_reason) == (3, "step_limit")
