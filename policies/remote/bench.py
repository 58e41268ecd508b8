"""What the protocol of remote policies takes, measured on loopback. Needs Django's settings."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from policies.base import PolicyCard, PolicySpec
from policies.policy_cache import Lease
from policies.remote.card import card_from
from policies.remote.metadata import declared
from policies.remote.policy import ask_metadata, open_card
from policies.remote.server import Offer, start
from simulation.contracts import CameraSpec, Chunking, Floats, Observation

INSTRUCTION, CHUNK = "pick up the red cube", 8


class _Still:
    """Answers at once: what is left is the protocol."""

    def __init__(self, spec: PolicySpec) -> None:
        self.spec = spec

    def reset(self, instruction: str, seed: int) -> None:
        pass

    def infer(self, observation: Observation) -> Floats:
        return np.zeros((CHUNK, 7))

    def close(self) -> None:
        pass


def overheads_ms(side: int, inferences: int) -> float:
    """Median inference over the protocol less median inference in process [ms], with pictures of `side` x `side`."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
    spec = PolicySpec(
        id="still",
        name="Still",
        family="film",
        cameras=(CameraSpec("workspace", side, side),),
        chunk=CHUNK,
        chunking=Chunking(CHUNK),
        statistics_key="",
    )
    policy, seen = _Still(spec), spec.grey_observation(INSTRUCTION)
    with _served(policy) as url:
        remote = open_card(card_from("still-remote", url, declared(ask_metadata(url)), {}))
        remote.reset(INSTRUCTION, 0)
        over, inside = (_median_ms(each.infer, seen, inferences) for each in (remote, policy))
        remote.close()
    return over - inside


@contextmanager
def _served(policy: _Still) -> Iterator[str]:
    card = PolicyCard(policy.spec, description="", provenance="", revision="")
    server = start(Offer(card, lambda: Lease(policy, policy, lambda: None)), "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()
        thread.join()


def _median_ms(infer: Callable[[Observation], Floats], seen: Observation, inferences: int) -> float:
    taken = []
    for _ in range(inferences + 5):
        began = time.perf_counter()
        infer(seen)
        taken.append((time.perf_counter() - began) * 1e3)
    return statistics.median(taken[5:])
