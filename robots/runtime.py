"""The worker runtime: what a worker process keeps open between rollouts, which is its environments and policies."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from arena.models import FOLDER_TROUBLE, MEMORY_TROUBLE, Contestant
from arena.queue import hosting
from policies import memory
from policies.base import OpenedPolicy, PolicyError
from policies.embodiment import fitting
from policies.models import Policy
from policies.names import install_line
from policies.policy_cache import Device, Key, PolicyCache
from policies.registry import REMOTE, card_of, crop_of, families, open_policy
from robots.players import EXPERT, Player, open_player
from simulation import catalogue
from simulation.cameras import close_cameras, render_profile
from simulation.contracts import Embodiment, SimulationError
from simulation.environment import Environment
from simulation.expert import knows as expert_knows
from simulation.trimming import trim
from simulation.worlds import load_world

log = logging.getLogger(__name__)
SCENES_KEPT = 2
"""Scenes that a thread keeps open, each with a renderer: 25 to 45 MB. Opening another takes a tenth of a second."""


def own_device() -> Device:
    """The configured device, on which this worker process opens policies. Raises ImproperlyConfigured."""
    name, here = settings.WORKER_DEVICE, hosting.this
    try:
        memory.check(name)
    except PolicyError as error:
        raise ImproperlyConfigured(f"ARENA_WORKER_DEVICE: {error}") from None
    budget = settings.WORKER_MEMORY_GB * 1e9 or memory.budget(name, here.processes)
    return Device(name, int(budget), lambda: memory.free(name), here.threads, settings.WORKER_BATCH)


class WorkerRuntime:
    """The runtime of one process. Its threads share the policies. Each plays one rollout at a time, in its own
    environments: a renderer belongs to the thread that made it.
    """

    def __init__(self, device: Device | None = None, cache: PolicyCache | None = None) -> None:
        """`cache`: with policies that are open already (`open_before_fork`)."""
        memory.share_cores()
        self.cache = cache or PolicyCache(device or own_device())
        self.render_profile = render_profile()
        self._thread = threading.local()

    def environment(self, robot_id: str, scene_id: str) -> Environment:
        """This thread's environment of the scene. Another may be closed for it: the least recently used."""
        kept: dict[tuple[str, str], Environment] = self._thread.__dict__.setdefault("environments", {})
        wanted = (robot_id, scene_id)
        found = kept.pop(wanted, None) or Environment(*wanted)
        kept[wanted] = found  # behind the others
        if len(kept) > SCENES_KEPT:
            oldest = next(iter(kept))
            del kept[oldest]
            close_cameras(*oldest)
            trim()
        return found

    def player(self, policy: Policy, robot_id: str, scene_id: str) -> Player:
        """A player of the policy for one rollout, to be closed after it. Raises PolicyError if it cannot be opened."""
        if policy.adapter not in families:
            return open_player(policy, self.environment(robot_id, scene_id))

        def load() -> OpenedPolicy:
            environment = self.environment(robot_id, scene_id)
            return cast(OpenedPolicy, open_player(policy, environment, self.cache.device.name).policy)

        lease = self.cache.lease(_key_of(policy), lambda: _expected_bytes(policy, self.cache.device), load)
        spec = lease.opened.spec
        try:
            fitting(spec, [catalogue.embodiment(robot_id, scene_id)])  # it may have been opened for another scene
        except PolicyError:
            lease.close()
            raise
        return Player(lease, spec.chunking, spec.cameras)

    def drop(self, policy: Policy) -> None:
        """Close a policy that failed, whose state is unknown: the next rollout opens it anew."""
        self.cache.drop(policy.id)

    def has_room(self, policy: Policy) -> bool:
        """Whether the policy can be opened without closing another."""
        return policy.adapter not in families or self.cache.fits(_expected_bytes(policy, self.cache.device))

    def warm_up(self, policy: Policy, robot_id: str, scene_id: str) -> None:
        """Open a policy and run one inference in the scene, so that its first rollout is as quick as the others."""
        environment = self.environment(robot_id, scene_id)
        environment.reset(0)
        player = self.player(policy, robot_id, scene_id)
        try:
            player.reset("", 0)
            actions = player.infer(environment.observe("", cameras=player.cameras))
        finally:
            player.close()
        log.info("%s is ready on %s, %s: %d actions at once", policy.id, robot_id, scene_id, len(actions))


def _key_of(policy: Policy) -> Key:
    return Key(policy.id, policy.revision, policy.model_path, policy.statistics_key)


def _expected_bytes(policy: Policy, device: Device) -> int:
    if policy.adapter == REMOTE:
        return 0
    return memory.expected_bytes(Path(policy.model_path), device.name, policy.statistics_key or None)


def open_before_fork(policies: list[Policy], scenes: list[tuple[str, str]]) -> PolicyCache:
    """The policies, open for processes that are forked afterwards, and the scenes compiled: they share the memory.

    Left to each process are renderers and whatever lies on a graphics card, which do not survive a fork, remote
    policies, and what cannot be opened here: the process finds out why.
    """
    memory.share_cores()
    cache = PolicyCache(own_device())
    for scene in scenes:
        try:
            load_world(*scene)
        except SimulationError:
            log.info("%s, %s is left to the processes", *scene, exc_info=True)
    worlds = [catalogue.embodiment(*scene) for scene in scenes]
    for policy in policies if cache.device.name == memory.CPU else ():
        if policy.adapter in families and policy.adapter != REMOTE:
            _open_before_fork(cache, policy, worlds)
    trim()
    return cache


def _open_before_fork(cache: PolicyCache, policy: Policy, worlds: list[Embodiment]) -> None:
    def load() -> OpenedPolicy:
        crop = crop_of(policy.card)
        return open_policy(Path(policy.model_path), cache.device.name, policy.statistics_key or None, worlds, crop)

    try:
        if cache.fits(expected := _expected_bytes(policy, cache.device)):
            cache.lease(_key_of(policy), lambda: expected, load).close()
    except Exception:
        log.info("%s is left to the processes", policy.id, exc_info=True)


def _fitting_scenes(policy: Policy, scenes: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the (robot, scene) pairs that the policy was made for. Raises WrongEmbodiment when there is none."""
    if policy.adapter not in families:
        return [scene for scene in scenes if policy.adapter != EXPERT or expert_knows(scene[0])]
    spec = card_of(policy.adapter, Path(policy.model_path), policy.statistics_key or None, policy.card).spec
    worlds = fitting(spec, [catalogue.embodiment(*scene) for scene in scenes])
    return [(world.robot_id, world.scene_id) for world in worlds]


def _here(scenes: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The (robot, scene) pairs that this worker can open. What others lack is logged, and stops nothing else."""
    found = []
    for robot_id, scene_id in scenes:
        try:
            load_world(robot_id, scene_id)
        except SimulationError as error:
            log.error("%s, %s cannot be opened: %s", robot_id, scene_id, error)
        else:
            found.append((robot_id, scene_id))
    return found


def preload(runtime: WorkerRuntime, policies: list[Policy], scenes: list[tuple[str, str]]) -> None:
    """Open the first (robot, scene), and policies while memory lasts; the rest are opened when first needed.

    Notes the reason against a policy that cannot be opened, and clears it for one that can be opened again.
    """
    scenes = _here(scenes)
    for policy in policies:
        try:
            if not runtime.has_room(policy):
                log.info("%s is opened when it is first needed: there is no room for all at once", policy.id)
                continue
            _preload_one(runtime, policy, _fitting_scenes(policy, scenes), scenes[:1])
        except PolicyError as error:
            log.error("%s cannot be opened: %s", policy.id, error)
            note_trouble(policy, error)
        except Exception:  # its rollouts may still fail one by one
            log.exception("%s failed its warm-up", policy.id)
            runtime.drop(policy)
        else:
            hosting.note_success(policy)


def _preload_one(
    runtime: WorkerRuntime, policy: Policy, fitting_scenes: list[tuple[str, str]], opened: list[tuple[str, str]]
) -> None:
    """Open a policy; for one of another scene than is `opened`, no scene is."""
    for robot_id, scene_id in opened:
        if (robot_id, scene_id) in fitting_scenes:
            runtime.warm_up(policy, robot_id, scene_id)
        elif fitting_scenes and policy.adapter in families:
            runtime.player(policy, *fitting_scenes[0]).close()


def note_trouble(policy: Contestant, error: PolicyError) -> None:
    """Note that this worker cannot open the policy, with what has to be put right."""
    story = f"{MEMORY_TROUBLE if error.code == 'out_of_memory' else FOLDER_TROUBLE}{error}"
    if error.code == "missing_file":
        story += f"; install it: {install_line(policy.id)}"
    hosting.note_trouble(policy, story)
