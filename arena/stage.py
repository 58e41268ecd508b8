"""What a worker process keeps open between rollouts: one environment per robot and scene, and the players in it."""

from __future__ import annotations

import logging

import torch

from arena.players import Player, open_player
from policies.base import PolicyError
from policies.models import Policy
from policies.seeding import FOLDER_TROUBLE
from simulation.contracts import Floats, Observation
from simulation.environment import Environment

log = logging.getLogger(__name__)
Key = tuple[str, str, str, str]


class Stage:
    """Belongs to one process and plays one rollout at a time."""

    def __init__(self) -> None:
        torch.set_num_threads(1)  # two processes share the cores: more threads only get in each other's way
        self._environments: dict[tuple[str, str], Environment] = {}
        self._players: dict[Key, Player] = {}

    def environment(self, robot_id: str, scene_id: str) -> Environment:
        place = (robot_id, scene_id)
        if place not in self._environments:
            self._environments[place] = Environment(robot_id, scene_id)
        return self._environments[place]

    def player(self, policy: Policy, robot_id: str, scene_id: str) -> Player:
        """The policy, opened once per revision; raises PolicyError when it cannot be opened."""
        key = (policy.id, policy.revision, robot_id, scene_id)
        if key not in self._players:
            self._drop_older(key)
            self._players[key] = open_player(policy, self.environment(robot_id, scene_id))
        return self._players[key]

    def drop(self, policy: Policy) -> None:
        """Forget a policy that failed: whatever state it was left in, the next rollout opens it anew."""
        for key in [key for key in self._players if key[0] == policy.id]:
            _close(self._players.pop(key))

    def rehearse(self, policy: Policy, robot_id: str, scene_id: str) -> None:
        """Open a policy and let it infer once, so that its first rollout is as quick as the others."""
        environment = self.environment(robot_id, scene_id)
        environment.reset(0)
        player = self.player(policy, robot_id, scene_id)
        player.reset("", 0)
        observation: Observation = environment.observe("", cameras=player.cameras)
        actions: Floats = player.infer(observation)
        log.info("%s is ready on %s, %s: %d actions at once", policy.id, robot_id, scene_id, len(actions))

    def _drop_older(self, new: Key) -> None:
        for key in [key for key in self._players if (key[0], *key[2:]) == (new[0], *new[2:])]:
            _close(self._players.pop(key))


def _close(player: Player) -> None:
    try:
        player.close()
    except Exception:  # whatever a policy raises while it is put away concerns nobody
        log.warning("A policy could not be closed", exc_info=True)


def preload(stage: Stage, policies: list[Policy], places: list[tuple[str, str]]) -> None:
    """Open every policy in every place. One that cannot be opened is marked unavailable, with the reason.

    Seeding brings it back once its folder is whole again.
    """
    for policy in policies:
        try:
            for robot_id, scene_id in places:
                stage.rehearse(policy, robot_id, scene_id)
        except PolicyError as error:
            log.error("%s cannot be opened: %s", policy.id, error)
            policy.mark_unavailable(f"{FOLDER_TROUBLE}{error}")
        except Exception:  # a policy that fails its rehearsal may still fail its rollouts, one by one
            log.exception("%s failed its rehearsal", policy.id)
            stage.drop(policy)
