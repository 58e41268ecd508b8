"""OpenVLA and Octo shared by rollouts in threads answer each of them what they would answer it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from policies import memory
from policies.base import OpenedPolicy
from policies.policy_cache import Device, Key, Lease, PolicyCache
from policies.registry import open_policy
from simulation.contracts import CameraSpec, Floats, Observation
from tests.policies.tiny_networks import write_octo, write_openvla

INSTRUCTIONS = ["pick up the red cube", "take the cube", "pick up the cube"]
STEPS = 4


@pytest.fixture(params=[write_openvla, write_octo])
def published(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write: Callable[[Path], Path] = request.param
    return write(tmp_path / "published")


@pytest.fixture
def together() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(len(INSTRUCTIONS)) as threads:
        yield threads


def cache(threads: int, most: int = 0) -> PolicyCache:
    return PolicyCache(Device("cpu", 10**9, lambda: 10**10, threads, most))


def lease_of(cache: PolicyCache, folder: Path) -> Lease:
    def load() -> OpenedPolicy:
        return open_policy(folder)

    return cache.lease(Key("published", "1", str(folder), ""), lambda: memory.expected_bytes(folder), load)


def play(lease: Lease, rollout: int) -> Floats:
    """Actions of some steps in which every rollout sees pictures of its own."""
    lease.reset(INSTRUCTIONS[rollout], seed=rollout)
    random = np.random.default_rng(rollout)
    answers = [lease.infer(look(lease.opened.spec.cameras[0], rollout, step, random)) for step in range(STEPS)]
    lease.close()
    return np.stack(answers)


def look(camera: CameraSpec, rollout: int, step: int, random: np.random.Generator) -> Observation:
    picture = random.integers(0, 256, (camera.height, camera.width, 3), np.uint8)
    return Observation({camera.name: picture}, np.zeros(8, np.float32), INSTRUCTIONS[rollout], step)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_shared_and_alone_agree(published: Path, together: ThreadPoolExecutor, most: int) -> None:
    rollouts = range(len(INSTRUCTIONS))
    single = cache(threads=1)
    alone = [play(lease_of(single, published), rollout) for rollout in rollouts]
    shared = cache(threads=len(INSTRUCTIONS), most=most)
    leases = [lease_of(shared, published) for _ in rollouts]
    assert len({id(lease.opened) for lease in leases}) == 1
    for here, there in zip(together.map(play, leases, rollouts), alone, strict=True):
        np.testing.assert_allclose(here, there, atol=2e-4)
    assert not np.allclose(alone[0], alone[1], atol=2e-4)
