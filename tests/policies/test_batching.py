"""Rollouts of one policy share its forwards: nobody waits long, nobody gets another's answer or another's error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from policies.batching import Batcher, BatchSlot
from simulation.contracts import Floats, Observation

PATIENCE_S = 20.0


class CountingPolicy:
    """Answers each rollout with its own seed and how often it was asked. `carried`: the seeds of every forward."""

    best_batch = 8

    def __init__(self) -> None:
        self.carried: list[list[int]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.largest = 8  # more at once is too much for its memory
        self.entered = threading.Semaphore(0)

    def begin(self, instruction: str, seed: int) -> dict[str, int]:
        return {"seed": seed, "asked": 0}

    def infer_batch(self, observations: Sequence[Observation], states: Sequence[Any]) -> list[Floats]:
        self.entered.release()
        assert self.gate.wait(PATIENCE_S)
        self.carried.append([state["seed"] for state in states])
        if len(states) > self.largest:
            raise MemoryError("too many")
        if any(observation.instruction == "nonsense" for observation in observations):
            raise ValueError("nonsense")
        for state in states:
            state["asked"] += 1
        return [np.full((1, 7), 100.0 * state["seed"] + state["asked"]) for state in states]


@pytest.fixture
def policy() -> CountingPolicy:
    return CountingPolicy()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


def look(instruction: str = "wave") -> Observation:
    return Observation({}, np.zeros(8, np.float32), instruction, 0)


def slots(batcher: Batcher, count: int) -> list[BatchSlot]:
    made = [BatchSlot(batcher) for _ in range(count)]
    for seed, slot in enumerate(made):
        slot.reset("wave", seed)
    return made


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def ask_in_order(batcher: Batcher, asking: list[BatchSlot], threads: ThreadPoolExecutor) -> list[Future[Floats]]:
    """The first is being carried, the others wait in this order."""
    answers = []
    for number, slot in enumerate(asking):
        answers.append(threads.submit(slot.infer, look()))
        until(lambda number=number: len(batcher.waiting) == number)
    return answers


def test_rollouts_that_ask_together_are_answered_in_one_forward_each_with_its_own(
    policy: CountingPolicy, threads: ThreadPoolExecutor
) -> None:
    batcher = Batcher(policy, 8, PATIENCE_S)
    playing = slots(batcher, 4)
    for turn in (1, 2, 3):
        answers = list(threads.map(lambda slot: slot.infer(look())[0, 0], playing))
        assert answers == [100.0 * seed + turn for seed in range(4)]
    assert [sorted(batch) for batch in policy.carried] == [[0, 1, 2, 3]] * 3


def test_a_rollout_that_plays_alone_waits_for_nobody(policy: CountingPolicy) -> None:
    batcher = Batcher(policy, 8, wait_s=3600)
    one, other = slots(batcher, 2)
    other.close()
    assert one.infer(look())[0, 0] == 1.0
    assert policy.carried == [[0]]


def test_a_rollout_waits_for_the_others_no_longer_than_it_is_told_to(policy: CountingPolicy) -> None:
    batcher = Batcher(policy, 8, wait_s=0.02)
    one, _ = slots(batcher, 2)
    assert one.infer(look())[0, 0] == 1.0
    assert policy.carried == [[0]]


def test_a_rollout_that_ends_frees_those_who_wait_for_it(policy: CountingPolicy, threads: ThreadPoolExecutor) -> None:
    batcher = Batcher(policy, 8, wait_s=3600)
    one, other = slots(batcher, 2)
    answer = threads.submit(one.infer, look())
    until(lambda: len(batcher.waiting) == 1)
    other.close()
    assert answer.result(PATIENCE_S)[0, 0] == 1.0


def test_the_oldest_requests_go_first_so_nobody_is_starved(policy: CountingPolicy, threads: ThreadPoolExecutor) -> None:
    batcher = Batcher(policy, most=2, wait_s=0)
    policy.gate.clear()
    answers = ask_in_order(batcher, slots(batcher, 6), threads)
    policy.gate.set()
    assert [answer.result(PATIENCE_S)[0, 0] for answer in answers] == [100.0 * seed + 1 for seed in range(6)]
    assert policy.carried == [[0], [1, 2], [3, 4], [5]]


def test_many_rollouts_that_keep_asking_all_get_on(policy: CountingPolicy, threads: ThreadPoolExecutor) -> None:
    batcher = Batcher(policy, most=3, wait_s=0.001)
    playing = slots(batcher, 8)

    def play(slot: BatchSlot) -> float:
        for _ in range(24):
            slot.infer(look())
        last = float(slot.infer(look())[0, 0])
        slot.close()
        return last

    assert list(threads.map(play, playing)) == [100.0 * seed + 25 for seed in range(8)]
    assert max(len(batch) for batch in policy.carried) <= 3


def test_an_error_reaches_the_rollout_whose_fault_it_is_and_no_other(
    policy: CountingPolicy, threads: ThreadPoolExecutor
) -> None:
    batcher = Batcher(policy, 8, PATIENCE_S)
    playing = slots(batcher, 3)
    asked = [threads.submit(slot.infer, look("nonsense" if seed == 1 else "wave")) for seed, slot in enumerate(playing)]
    assert asked[0].result(PATIENCE_S)[0, 0] == 1.0
    assert asked[2].result(PATIENCE_S)[0, 0] == 201.0
    with pytest.raises(ValueError, match="nonsense"):
        asked[1].result(PATIENCE_S)


def test_a_batch_that_is_too_much_for_the_memory_is_made_smaller(
    policy: CountingPolicy, threads: ThreadPoolExecutor
) -> None:
    policy.largest = 2
    batcher = Batcher(policy, 8, PATIENCE_S)
    playing = slots(batcher, 4)
    answers = list(threads.map(lambda slot: slot.infer(look())[0, 0], playing))
    assert answers == [100.0 * seed + 1 for seed in range(4)]
    assert batcher.most == 2


def test_the_policy_does_one_thing_at_a_time(policy: CountingPolicy, threads: ThreadPoolExecutor) -> None:
    batcher = Batcher(policy, 8, 0)
    playing = slots(batcher, 2)
    policy.gate.clear()
    first = threads.submit(playing[0].infer, look())
    assert policy.entered.acquire(timeout=PATIENCE_S)
    second = threads.submit(playing[1].infer, look())
    begun = threads.submit(batcher.begin, "wave", 9)
    assert not policy.entered.acquire(timeout=0.05)
    assert not begun.done()
    policy.gate.set()
    assert begun.result(PATIENCE_S) == {"seed": 9, "asked": 0}
    assert (first.result(PATIENCE_S)[0, 0], second.result(PATIENCE_S)[0, 0]) == (1.0, 101.0)
