"""What a worker process keeps open between rollouts: environments, one per thread, and policies, for all threads."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import cast

import torch
from django.conf import settings

from arena.queue import hosting
from policies import memory
from policies.base import OpenedPolicy, PolicyError
from policies.embodiment import fitting
from policies.models import Policy
from policies.policy_cache import Device, Key, PolicyCache
from policies.registry import describe, families
from robots.players import Player, open_player
from robots.trouble import note_trouble
from simulation import catalogue
from simulation.cameras import render_profile
from simulation.environment import Environment

log = logging.getLogger(__name__)
SHARE = 0.6  # of a device's memory, for the weights of all worker processes together, unless configured


def own_device() -> Device:
    """What this worker process opens policies on, as configured."""
    name, here = settings.WORKER_DEVICE, hosting.this
    budget = settings.WORKER_MEMORY_GB * 1e9 or SHARE * memory.total(name) / here.processes
    return Device(name, int(budget), lambda: memory.free(name), here.threads, settings.WORKER_BATCH)


class WorkerRuntime:
    """Belongs to one process. Each of its threads plays one rollout at a time, in environments of its own."""

    def __init__(self, device: Device | None = None) -> None:
        torch.set_num_threads(1)  # rollouts share the cores: more threads only get in each other's way
        self.cache = PolicyCache(device or own_device())
        self.render_profile = render_profile()
        self._thread = threading.local()

    def environment(self, robot_id: str, scene_id: str) -> Environment:
        """This thread's: a renderer belongs to the thread that made it."""
        kept: dict[tuple[str, str], Environment] = self._thread.__dict__.setdefault("environments", {})
        place = (robot_id, scene_id)
        if place not in kept:
            kept[place] = Environment(robot_id, scene_id)
        return kept[place]

    def player(self, policy: Policy, robot_id: str, scene_id: str) -> Player:
        """The policy, for one rollout; close it afterwards. Raises PolicyError when it cannot be opened."""
        environment = self.environment(robot_id, scene_id)
        if policy.adapter not in families:
            return open_player(policy, environment)

        def load() -> OpenedPolicy:
            return cast(OpenedPolicy, open_player(policy, environment, self.cache.device.name).policy)

        lease = self.cache.lease(_key(policy), lambda: self._expected(policy), load)
        spec = lease.opened.spec
        try:
            fitting(spec, [catalogue.embodiment(robot_id, scene_id)])  # it may have been opened for another world
        except PolicyError:
            lease.close()
            raise
        return Player(lease, spec.chunking, spec.cameras)

    def drop(self, policy: Policy) -> None:
        """Forget a policy that failed: whatever state it was left in, the next rollout opens it anew."""
        self.cache.drop(policy.id)

    def has_room(self, policy: Policy) -> bool:
        """Whether it can be opened without closing another."""
        return policy.adapter not in families or self.cache.fits(self._expected(policy))

    def warm_up(self, policy: Policy, robot_id: str, scene_id: str) -> None:
        """Open a policy and let it infer where it will play, so that its first rollout is as quick as the others."""
        environment = self.environment(robot_id, scene_id)
        environment.reset(0)
        player = self.player(policy, robot_id, scene_id)
        try:
            player.reset("", 0)
            actions = player.infer(environment.observe("", cameras=player.cameras))
        finally:
            player.close()
        log.info("%s is ready on %s, %s: %d actions at once", policy.id, robot_id, scene_id, len(actions))

    def _expected(self, policy: Policy) -> int:
        folder = Path(policy.model_path)
        describe(folder, policy.statistics_key or None)  # says what a folder that is none lacks
        return memory.expected_bytes(folder, self.cache.device.name)


def _key(policy: Policy) -> Key:
    return Key(policy.id, policy.revision, policy.model_path, policy.statistics_key)


def _fitting_places(policy: Policy, places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Raises WrongEmbodiment when there is none."""
    if policy.adapter not in families:
        return places
    spec = describe(Path(policy.model_path), policy.statistics_key or None).spec
    worlds = fitting(spec, [catalogue.embodiment(*place) for place in places])
    return [(world.robot_id, world.scene_id) for world in worlds]


def preload(runtime: WorkerRuntime, policies: list[Policy], places: list[tuple[str, str]]) -> None:
    """Open policies in every place that they fit, as long as there is room for all; the rest when first asked.

    One that cannot be opened is noted with the reason, one that can and was noted is let play again.
    """
    for policy in policies:
        try:
            if not runtime.has_room(policy):
                log.info("%s is opened when it is first asked: no room for all at once", policy.id)
                continue
            for robot_id, scene_id in _fitting_places(policy, places):
                runtime.warm_up(policy, robot_id, scene_id)
        except PolicyError as error:
            log.error("%s cannot be opened: %s", policy.id, error)
            note_trouble(policy, error)
        except Exception:  # a policy that fails its warm-up may still fail its rollouts, one by one
            log.exception("%s failed its warm-up", policy.id)
            runtime.drop(policy)
        else:
            hosting.note_success(policy)
