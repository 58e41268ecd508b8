"""Batching the inference of one policy's rollouts, each of which is played in a thread of its own."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from policies.base import BatchPolicy
from policies.memory import is_out_of_memory
from simulation.contracts import Floats, Observation


@dataclass(eq=False)
class _Request:
    """One inference of a rollout. `done` once it has an answer or an error."""

    observation: Observation
    state: Any
    since: float = field(default_factory=time.monotonic)
    answer: Floats | None = None
    error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None


class Batcher:
    """Gathers requests that arrive at about the same time into one forward pass.

    A request's thread leads when no other does. It waits until `most` requests or one per rollout are there, or until
    the oldest has waited `wait_s` seconds, and then infers for the oldest `most`. So a request waits for the present
    forward pass, at most `wait_s` more, and for one forward pass per `most` older requests.
    """

    def __init__(self, policy: BatchPolicy[Any], most: int, wait_s: float) -> None:
        self.policy, self.most, self.wait_s = policy, max(1, most), wait_s
        self._changed = threading.Condition()
        self._forward = threading.Lock()  # the policy takes one call at a time
        self.waiting: list[_Request] = []  # those that are in no forward pass yet
        self._leading = False
        self._rollouts = 0

    def join(self) -> None:
        """Count one more rollout, whose requests others may wait for."""
        with self._changed:
            self._rollouts += 1

    def leave(self) -> None:
        with self._changed:
            self._rollouts -= 1
            self._changed.notify_all()

    def begin(self, instruction: str, seed: int) -> Any:
        """The state of a new rollout. Raises what the policy raises."""
        with self._forward:
            return self.policy.begin(instruction, seed)

    def infer(self, observation: Observation, state: Any) -> Floats:
        """The rollout's next actions. Raises what the policy raises for this rollout alone."""
        request = _Request(observation, state)
        with self._changed:
            self.waiting.append(request)
            self._changed.notify_all()
        try:
            while not self._settle(request):
                pass
        finally:
            with self._changed:
                if request in self.waiting:
                    self.waiting.remove(request)
        if request.error is not None:
            raise request.error
        assert request.answer is not None  # noqa: S101 - `done` without an error
        return request.answer

    def _settle(self, request: _Request) -> bool:
        """Wait for the answer, or lead a forward pass. True once the request is done."""
        with self._changed:
            self._changed.wait_for(lambda: request.done or not self._leading)
            if request.done:
                return True
            self._leading = True
        batch: list[_Request] = []
        try:
            batch = self._gather()
            self._carry(batch)
        finally:
            with self._changed:
                self.waiting[:0] = [each for each in batch if not each.done]
                self._leading = False
                self._changed.notify_all()
        return request.done

    def _gather(self) -> list[_Request]:
        with self._changed:
            until = self.waiting[0].since + self.wait_s
            while len(self.waiting) < min(self.most, self._rollouts) and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
            batch = self.waiting[: self.most]
            del self.waiting[: self.most]
            return batch

    def _carry(self, batch: list[_Request]) -> None:
        """Answer a batch. When it fails, infer for each request alone, so that only the failing ones get an error."""
        try:
            with self._forward:
                answers = self.policy.infer_batch([each.observation for each in batch], [each.state for each in batch])
        except Exception as error:  # noqa: BLE001 - whatever a policy raises belongs to its rollout
            if len(batch) == 1:
                batch[0].error = error
                return
            if is_out_of_memory(error):
                self.most = max(1, len(batch) // 2)
            for each in batch:
                self._carry([each])
        else:
            for each, answer in zip(batch, answers, strict=True):
                each.answer = answer


class BatchSlot:
    """One rollout's slot in a shared policy's batches: an actor (contracts.Actor) that plays this rollout alone."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        self._state: Any = None
        self._joined = False

    def reset(self, instruction: str, seed: int) -> None:
        self._state = self._batcher.begin(instruction, seed)
        if not self._joined:
            self._batcher.join()
            self._joined = True

    def infer(self, observation: Observation) -> Floats:
        return self._batcher.infer(observation, self._state)

    def close(self) -> None:
        if self._joined:
            self._batcher.leave()
            self._joined = False
