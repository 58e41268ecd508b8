"""Opening whoever plays: a folder of a policy family, or a reference that knows the environment. For workers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from policies.base import PolicyError
from policies.registry import families, open_policy
from simulation import catalogue
from simulation.contracts import POLICY_CAMERA, Actor, CameraSpec, Chunking, Embodiment, Floats, Observation
from simulation.environment import Environment
from simulation.expert import HoldStill, ScriptedExpert

EXPERT, STILL = "expert", "still"
EVERY_STEP = Chunking(execute=1)
NO_CAMERAS = ()
"""References know where everything is: a picture would be drawn for nobody."""


class PlayerRow(Protocol):
    """The part of a registry row that opening needs; `policies.models.Policy` has it."""

    @property
    def adapter(self) -> str: ...

    @property
    def model_path(self) -> str: ...

    @property
    def statistics_key(self) -> str: ...


class UnknownAdapter(PolicyError):
    code = "unknown_adapter"


@dataclass(frozen=True)
class Player:
    """An actor (contracts.Actor) with what the runner is told: how its chunks are played, which pictures it wants."""

    policy: Actor
    chunking: Chunking
    cameras: tuple[CameraSpec, ...] = (POLICY_CAMERA,)

    def reset(self, instruction: str, seed: int) -> None:
        self.policy.reset(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        return self.policy.infer(observation)

    def close(self) -> None:
        self.policy.close()


def open_player(row: PlayerRow | Path, environment: Environment, device: str | None = None) -> Player:
    """Open a registry row or a policy folder. Raises PolicyError when it cannot be opened, or not for this robot."""
    here = catalogue.embodiment(environment.world.robot_id, environment.world.scene_id)
    if isinstance(row, Path):
        return _open_folder(row, here, device)
    if row.adapter == EXPERT:
        return Player(ScriptedExpert(environment), EVERY_STEP, NO_CAMERAS)
    if row.adapter == STILL:
        return Player(HoldStill(), EVERY_STEP, NO_CAMERAS)
    if row.adapter in families:
        return _open_folder(Path(row.model_path), here, device, row.statistics_key or None)
    known = ", ".join(sorted([EXPERT, STILL, *families]))
    raise UnknownAdapter(f"unknown adapter {row.adapter!r}; known: {known}")


def _open_folder(folder: Path, here: Embodiment, device: str | None, statistics_key: str | None = None) -> Player:
    policy = open_policy(folder, device, statistics_key, [here])
    return Player(policy, policy.spec.chunking, policy.spec.cameras)
