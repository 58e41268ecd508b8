"""The policies that a worker process keeps open within a memory budget. The least recently used is closed first."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from policies import memory
from policies.base import BatchPolicy, OpenedPolicy, Rests
from policies.batching import Batcher, BatchSlot
from policies.memory import OutOfMemory
from simulation.contracts import ACTION_DIM, Actor, Floats, Observation

log = logging.getLogger(__name__)
ROOM_WAIT_S = 60.0  # how long opening waits for rollouts to end when only their policies could make room
WARM_UP = "pick up the red cube"


@dataclass(frozen=True)
class Key:
    """What must be the same for an open policy to be used again."""

    model_id: str
    revision: str
    folder: str
    statistics_key: str


@dataclass(frozen=True)
class Device:
    """What policies are opened on. `budget`: bytes for the weights of one process. `free`: bytes free at present.

    `threads`: rollouts that the process plays at once, which share a policy where it infers for several.
    `most`: rollouts in one forward pass; with 0, the policy's `best_batch`.
    """

    name: str
    budget: int
    free: Callable[[], int]
    threads: int = 1
    most: int = 0


@dataclass(eq=False)
class Entry:
    key: Key
    policy: OpenedPolicy
    size: int
    batcher: Batcher | None = None
    users: int = 0
    stale: bool = False  # closed as soon as it has no users


@dataclass
class Lease:
    """An open policy for one rollout. `close` returns it to the cache, which keeps it open."""

    opened: OpenedPolicy
    actor: Actor = field(repr=False)
    release: Callable[[], None] = field(repr=False)
    closed: bool = False

    def reset(self, instruction: str, seed: int) -> None:
        self.actor.reset(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        return self.actor.infer(observation)

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if isinstance(self.actor, BatchSlot):
            self.actor.close()
        elif isinstance(self.actor, Rests):
            self.actor.rest()
        self.release()


class PolicyCache:
    """Thread-safe. One policy is opened at a time, while rollouts of others go on."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.entries: list[Entry] = []  # the least recently used first
        self._changed = threading.Condition()
        self._opening = threading.Lock()

    @property
    def size(self) -> int:
        """Bytes of all weights that are open."""
        return sum(entry.size for entry in self.entries)

    def fits(self, expected: int) -> bool:
        """Whether there is room without closing another policy."""
        return self.size + expected <= self.device.budget and expected * memory.HEADROOM <= self.device.free()

    def lease(self, key: Key, expected: Callable[[], int], load: Callable[[], OpenedPolicy]) -> Lease:
        """The policy, warmed up; `load` opens it unless it is open. Raises what `load` raises, and OutOfMemory.

        `expected` returns the bytes that its weights will take. What they do take is measured after loading.
        """
        if lease := self._lease_open(key):
            return lease
        with self._opening:
            if lease := self._lease_open(key):
                return lease
            self._expire(lambda other: other.model_id == key.model_id and other != key)
            needed = expected()
            self._make_room(key, needed)
            entry = self._open(key, needed, load)
            with self._changed:
                self.entries.append(entry)
            self._make_room(key, 0, keep=entry)
            lease = self._lease_open(key)
        if lease is None:
            raise OutOfMemory(f"{key.model_id} was closed as soon as it was open")
        return lease

    def drop(self, model_id: str) -> None:
        """Close a policy that failed as soon as no rollout uses it."""
        self._expire(lambda key: key.model_id == model_id)

    def _lease_open(self, key: Key) -> Lease | None:
        with self._changed:
            for entry in self.entries:
                if entry.key == key and not entry.stale and (entry.batcher or not entry.users):
                    entry.users += 1
                    self.entries.remove(entry)
                    self.entries.append(entry)
                    return self._new_lease(entry)
        return None

    def _new_lease(self, entry: Entry) -> Lease:
        def release() -> None:
            with self._changed:
                entry.users -= 1
                self._close_idle(stale_only=True)
                self._changed.notify_all()

        return Lease(entry.policy, BatchSlot(entry.batcher) if entry.batcher else entry.policy, release)

    def _open(self, key: Key, expected: int, load: Callable[[], OpenedPolicy]) -> Entry:
        try:
            return self._opened(key, load)
        except Exception as error:
            if not memory.is_out_of_memory(error):
                raise
        self._close_idle()
        try:
            return self._opened(key, load)
        except Exception as error:
            if not memory.is_out_of_memory(error):
                raise
            needs, free = _gigabytes(expected), _gigabytes(self.device.free())
            raise OutOfMemory(
                f"{key.model_id} needs about {needs}; {self.device.name} ran out of memory with {free} free"
            ) from error

    def _opened(self, key: Key, load: Callable[[], OpenedPolicy]) -> Entry:
        before = memory.allocated(self.device.name)
        policy = load()
        step_s = warm_up(policy)
        batcher = None
        if self.device.threads > 1 and isinstance(policy, BatchPolicy):
            batcher = Batcher(policy, min(self.device.most or policy.best_batch, self.device.threads), step_s)
            _warm_up_batches(policy, batcher.most)
        size = max(memory.measured_bytes(policy), memory.allocated(self.device.name) - before)
        log.info("%s is open: %s on %s", key.model_id, _gigabytes(size), self.device.name)
        return Entry(key, policy, size, batcher)

    def _make_room(self, key: Key, expected: int, keep: Entry | None = None) -> None:
        """Close idle policies until `expected` more bytes fit, if need be as rollouts end. Raises OutOfMemory."""
        budget = self.device.budget
        if expected > budget:
            raise OutOfMemory(
                f"{key.model_id} needs {_gigabytes(expected)}, a worker process may use {_gigabytes(budget)} "
                "(ARENA_WORKER_MEMORY_GB)"
            )
        deadline = time.monotonic() + ROOM_WAIT_S
        with self._changed:
            while self.size + expected > budget:
                idle = next((entry for entry in self.entries if not entry.users and entry is not keep), None)
                if idle is not None:
                    self._remove(idle)
                elif keep is not None:
                    return  # larger than expected, and no other can be closed: it stays open above the budget
                elif not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    raise OutOfMemory(f"{key.model_id} needs {_gigabytes(expected)}; other policies in play hold them")
        if expected * memory.HEADROOM > self.device.free():
            self._close_idle()
            memory.release(self.device.name)  # what earlier batches left with torch is free, too
        if expected * memory.HEADROOM > (free := self.device.free()):
            raise OutOfMemory(
                f"{key.model_id} needs {_gigabytes(expected * memory.HEADROOM)} while it is opened; "
                f"{self.device.name} has {_gigabytes(free)} free"
            )

    def _expire(self, expired: Callable[[Key], bool]) -> None:
        """Close the policies with these keys, each as soon as nobody uses it."""
        with self._changed:
            for entry in self.entries:
                entry.stale = entry.stale or expired(entry.key)
            self._close_idle(stale_only=True)

    def _close_idle(self, *, stale_only: bool = False) -> None:
        with self._changed:
            for entry in [each for each in self.entries if not each.users and (each.stale or not stale_only)]:
                self._remove(entry)

    def _remove(self, entry: Entry) -> None:
        self.entries.remove(entry)
        log.info("%s is closed", entry.key.model_id)
        try:
            entry.policy.close()
        except Exception:  # what a policy raises while it is closed has no consequence
            log.warning("%s could not be closed cleanly", entry.key.model_id, exc_info=True)
        del entry.policy, entry.batcher
        memory.release(self.device.name)


def warm_up(policy: OpenedPolicy) -> float:
    """Let a policy infer twice on grey pictures, so that its first rollout is as fast as the others.

    Returns the seconds of one decoding step, of which an action takes as many as it has numbers. Raises only when
    memory runs out: any other failure occurs again in a rollout, where its reason is recorded.
    """
    observation, seconds = policy.spec.grey_observation(WARM_UP), 0.0
    try:
        for _ in range(2):
            policy.reset(WARM_UP, 0)
            began = time.perf_counter()
            policy.infer(observation)
            seconds = time.perf_counter() - began
    except Exception as error:
        if memory.is_out_of_memory(error):
            raise
        log.exception("%s failed its warm-up", policy.spec.id)
    return seconds / ACTION_DIM


def _warm_up_batches(policy: BatchPolicy[Any], most: int) -> None:
    """Infer once with every batch size, for what is compiled or captured per size. Raises when memory runs out."""
    observation = cast(OpenedPolicy, policy).spec.grey_observation(WARM_UP)
    try:
        for size in range(2, most + 1):
            policy.infer_batch([observation] * size, [policy.begin(WARM_UP, seed) for seed in range(size)])
    except Exception as error:
        if memory.is_out_of_memory(error):
            raise
        log.exception("A batch failed its warm-up")


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
