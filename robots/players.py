"""Players: a folder of a policy family, or a reference that knows the environment. For workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies.base import PolicyCard, PolicyError, Rests, WrongEmbodiment
from policies.embodiment import fitting
from policies.registry import REMOTE, crop_of, families, open_policy
from policies.remote.policy import open_card
from simulation import catalogue
from simulation.contracts import (
    POLICY_CAMERA,
    Actor,
    CameraSpec,
    Chunking,
    Embodiment,
    EpisodeResult,
    Floats,
    Limits,
    Listener,
    Observation,
)
from simulation.environment import Environment
from simulation.expert import HoldStill, scripted_expert
from simulation.expert import knows as expert_knows
from simulation.runner import run_episode

if TYPE_CHECKING:
    from policies.models import Policy

EXPERT, STILL = "expert", "still"
EVERY_STEP = Chunking(execute=1)
NO_CAMERAS = ()
"""References read the state of the environment: they need no picture."""


@dataclass(frozen=True)
class PlayerSource:
    """The columns of a registry row that opening a player needs, for processes without the database."""

    adapter: str
    model_path: str = ""
    statistics_key: str = ""
    card: Mapping[str, Any] = field(default_factory=dict, hash=False)


class UnknownAdapter(PolicyError):
    code = "unknown_adapter"


@dataclass(frozen=True)
class Player:
    """An actor (contracts.Actor), how its chunks are played, and the pictures that it needs."""

    policy: Actor
    chunking: Chunking
    cameras: tuple[CameraSpec, ...] = (POLICY_CAMERA,)

    def reset(self, instruction: str, seed: int) -> None:
        self.policy.reset(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        return self.policy.infer(observation)

    def rest(self) -> None:
        """Give back what the policy holds for a rollout, as a connection."""
        if isinstance(self.policy, Rests):
            self.policy.rest()

    def close(self) -> None:
        self.policy.close()

    def play(
        self,
        environment: Environment,
        instruction: str,
        seed: int,
        listeners: Sequence[Listener] = (),
        limits: Limits | None = None,
    ) -> EpisodeResult:
        """Play an episode from the environment's present state, as `simulation.runner.run_episode` does."""
        return run_episode(environment, self, instruction, seed, listeners, limits, self.chunking, self.cameras)


def open_player(source: Policy | PlayerSource, environment: Environment, device: str | None = None) -> Player:
    """Raises PolicyError when the policy cannot be opened, or was not made for this robot and scene."""
    if source.adapter == EXPERT:
        if not expert_knows(environment.world.robot_id):
            raise WrongEmbodiment(f"there is no scripted expert for {environment.world.robot_id}")
        return Player(scripted_expert(environment), EVERY_STEP, NO_CAMERAS)
    if source.adapter == STILL:
        return Player(HoldStill(environment), EVERY_STEP, NO_CAMERAS)
    if source.adapter == REMOTE:
        return open_remote(PolicyCard.from_json(source.card), environment)
    if source.adapter in families:
        key = source.statistics_key or None
        return open_folder(Path(source.model_path), environment, device, key, crop_of(source.card))
    known = ", ".join(sorted([EXPERT, STILL, *families]))
    raise UnknownAdapter(f"unknown adapter {source.adapter!r}; known: {known}")


def open_remote(card: PolicyCard, environment: Environment) -> Player:
    """A policy behind a server, which is not asked yet. Raises PolicyError as `open_player` does."""
    fitting(card.spec, [_here(environment)])
    return Player(open_card(card), card.spec.chunking, card.spec.cameras)


def open_folder(
    folder: Path,
    environment: Environment,
    device: str | None = None,
    statistics_key: str | None = None,
    centre_crop: float | None = None,
) -> Player:
    """Raises PolicyError as `open_player` does."""
    policy = open_policy(folder, device, statistics_key, [_here(environment)], centre_crop)
    return Player(policy, policy.spec.chunking, policy.spec.cameras)


def _here(environment: Environment) -> Embodiment:
    return catalogue.embodiment(environment.world.robot_id, environment.world.scene_id)
