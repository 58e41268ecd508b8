"""A worker process keeps policies open within a budget: the least recently used goes, what is played stays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from policies import memory, policy_cache
from policies.base import OpenedPolicy, PolicySpec
from policies.memory import OutOfMemory
from policies.policy_cache import Device, Key, PolicyCache
from policies.registry import open_policy
from simulation.contracts import CameraSpec, Chunking, Floats, Observation
from tests.policies.tiny_networks import write_octo, write_openvla

PATIENCE_S = 20.0
SIZE = 1000  # bytes of a fake's weights


class FakePolicy:
    """A network of SIZE bytes, and a diary."""

    def __init__(self, name: str) -> None:
        self.spec = PolicySpec(name, name, "fake", (CameraSpec("workspace", 4, 4),), 1, Chunking(), "here")
        self.network = torch.nn.Linear(SIZE // 4, 1, bias=False)
        self.inferred = 0
        self.closed = False

    def reset(self, instruction: str, seed: int) -> None:
        pass

    def infer(self, observation: Observation) -> Floats:
        self.inferred += 1
        return np.zeros((1, 7))

    def close(self) -> None:
        self.closed = True


class Opener:
    """Opens fakes; `opened` are all of them in order. `fails`: errors to raise first, one per try."""

    def __init__(self, fails: list[Exception] | None = None) -> None:
        self.opened: list[FakePolicy] = []
        self.fails = fails or []

    def __call__(self, name: str) -> Callable[[], OpenedPolicy]:
        def load() -> OpenedPolicy:
            if self.fails:
                raise self.fails.pop(0)
            self.opened.append(FakePolicy(name))
            return self.opened[-1]

        return load


def size_of() -> int:
    return SIZE


def key(name: str, revision: str = "1") -> Key:
    return Key(name, revision, "", "")


def device(budget: int = 2 * SIZE, **more: Any) -> Device:
    return Device("cpu", budget, more.pop("free", lambda: 10**9), **more)


def use(cache: PolicyCache, opener: Opener, *names: str) -> None:
    for name in names:
        cache.lease(key(name), size_of, opener(name)).close()


def names(cache: PolicyCache) -> list[str]:
    return [entry.key.model_id for entry in cache.entries]


def test_a_policy_is_opened_once_and_is_warm_before_its_first_rollout() -> None:
    cache, opener = PolicyCache(device()), Opener()
    lease = cache.lease(key("a"), size_of, opener("a"))
    assert opener.opened[0].inferred >= 1
    lease.close()
    use(cache, opener, "a", "a")
    assert len(opener.opened) == 1


def test_the_least_recently_used_makes_room() -> None:
    cache, opener = PolicyCache(device(2 * SIZE)), Opener()
    use(cache, opener, "a", "b", "a", "c")
    assert names(cache) == ["a", "c"]
    assert [policy.spec.id for policy in opener.opened if policy.closed] == ["b"]
    assert cache.size == 2 * SIZE


def test_what_is_being_played_stays_and_opening_waits_for_its_end() -> None:
    cache, opener = PolicyCache(device(SIZE)), Opener()
    playing = cache.lease(key("a"), size_of, opener("a"))
    with ThreadPoolExecutor(1) as threads:
        wanted = threads.submit(cache.lease, key("b"), size_of, opener("b"))
        assert not wanted.done()
        assert names(cache) == ["a"]
        playing.close()
        wanted.result(PATIENCE_S).close()
    assert names(cache) == ["b"]


def test_opening_gives_up_when_rollouts_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_cache, "ROOM_WAIT_S", 0.01)
    full, opener = PolicyCache(device(SIZE)), Opener()
    full.lease(key("a"), size_of, opener("a"))
    with pytest.raises(OutOfMemory, match=r"b needs .*; other policies in play hold them"):
        full.lease(key("b"), size_of, opener("b"))


def test_a_policy_larger_than_the_budget_is_refused_before_anything_is_read_or_closed() -> None:
    cache, opener = PolicyCache(device(SIZE)), Opener()
    use(cache, opener, "a")
    with pytest.raises(OutOfMemory, match=r"big needs 5\.0 GB, a worker process may use .*ARENA_WORKER_MEMORY_GB"):
        cache.lease(key("big"), lambda: 5 * 10**9, opener("big"))
    assert names(cache) == ["a"]
    assert len(opener.opened) == 1


def test_a_policy_that_the_machine_has_no_room_for_is_refused_after_idle_ones_were_closed() -> None:
    cache, opener = PolicyCache(device(10 * SIZE, free=lambda: SIZE)), Opener()
    with pytest.raises(OutOfMemory, match=r"a needs .* while it is opened; cpu has .* free"):
        use(cache, opener, "a")
    assert opener.opened == []


@pytest.mark.parametrize("error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory")])
def test_when_memory_runs_out_idle_policies_are_closed_and_opening_is_tried_again(error: Exception) -> None:
    cache, opener = PolicyCache(device(10 * SIZE)), Opener()
    use(cache, opener, "a")
    opener.fails = [error]
    use(cache, opener, "b")
    assert names(cache) == ["b"]
    assert opener.opened[0].closed


def test_when_memory_still_runs_out_that_is_the_reason() -> None:
    cache = PolicyCache(device())
    with pytest.raises(OutOfMemory, match=r"a needs about .*; cpu ran out of memory with"):
        use(cache, Opener([MemoryError(), MemoryError()]), "a")
    use(cache, Opener(), "b")
    assert names(cache) == ["b"]


def test_other_errors_of_opening_are_passed_on_and_nothing_is_closed_for_them() -> None:
    cache, opener = PolicyCache(device()), Opener()
    use(cache, opener, "a")
    with pytest.raises(ValueError, match="broken"):
        use(cache, Opener([ValueError("broken")]), "b")
    assert names(cache) == ["a"]


def test_a_new_revision_takes_the_place_of_the_old_one() -> None:
    cache, opener = PolicyCache(device(10 * SIZE)), Opener()
    use(cache, opener, "a")
    cache.lease(key("a", "2"), size_of, opener("a")).close()
    assert [entry.key for entry in cache.entries] == [key("a", "2")]
    assert opener.opened[0].closed


def test_a_dropped_policy_is_closed_when_its_rollouts_are_over_and_opened_anew() -> None:
    cache, opener = PolicyCache(device(10 * SIZE)), Opener()
    lease = cache.lease(key("a"), size_of, opener("a"))
    cache.drop("a")
    assert not opener.opened[0].closed
    cache.lease(key("a"), size_of, opener("a")).close()
    lease.close()
    lease.close()
    assert [policy.closed for policy in opener.opened] == [True, False]


def test_a_policy_that_plays_one_rollout_at_a_time_is_opened_once_per_rollout() -> None:
    cache, opener = PolicyCache(device(10 * SIZE, threads=2)), Opener()
    one, other = (cache.lease(key("a"), size_of, opener("a")) for _ in range(2))
    assert one.opened is not other.opened
    one.close()
    assert cache.lease(key("a"), size_of, opener("a")).opened is one.opened


def test_two_threads_that_ask_at_once_open_it_once_each_after_the_other() -> None:
    cache, opener = PolicyCache(device(10 * SIZE)), Opener()
    together = threading.Barrier(4)

    def play(_: int) -> None:
        together.wait(PATIENCE_S)
        use(cache, opener, "a")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(play, range(4)))
    assert len(opener.opened) == len(names(cache)) <= 4


@pytest.mark.parametrize("write", [write_openvla, write_octo])
def test_what_weights_take_is_known_before_and_measured_after(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    folder = write(tmp_path / "published")
    expected = memory.expected_bytes(folder)
    policy = open_policy(folder)
    assert memory.measured_bytes(policy) == pytest.approx(expected, rel=0.05)
    assert memory.parameters(policy) * 4 == expected
