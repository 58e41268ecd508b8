"""Three remote policies in the pool of an arena: a slow one, a fast one, and one that fails in every second episode."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.remote.servers import CONTRACT, PolicyServer, leaves, serving
from tests.stack import BASE_DIR, Arena, wait_until

CHUNK = int(CONTRACT["chunk"])  # type: ignore[call-overload]
SLOW_S = 0.5
"""Of an inference, which gives actions for 0.8 s: a slow policy that keeps pace with the clock, as it must."""
HOSTED_WITHIN_S = 600.0
SLOW, FAST, FAILING = "stranger-slow", "stranger-fast", "stranger-failing"


def swaying(size_m: float, period: int) -> Callable[[int], NDArray[np.float32]]:
    """Actions of a chunk of an arm that sways and sinks, from the step of its episode."""

    def actions(step: int) -> NDArray[np.float32]:
        phase = 2 * np.pi * (step + np.arange(CHUNK)) / period
        rows = np.zeros((CHUNK, 7), np.float32)
        rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 6] = size_m * np.cos(phase), size_m * np.sin(phase), -0.002, 1.0
        return rows

    return actions


class Stranger(PolicyServer):
    """`seconds`: of each inference. `failing`: in every second episode the third inference ends the connection."""

    def __init__(self, move: Callable[[int], NDArray[np.float32]], seconds: float = 0.0, failing: bool = False) -> None:
        super().__init__(self._act)
        self.move, self.seconds, self.failing = move, seconds, failing
        self._episodes = 0
        self._asked: dict[Any, tuple[int, int]] = {}
        """Of each connection: which episode it is, and how many inferences it had."""

    def _act(self, connection: Any, message: dict[str, Any]) -> Any:
        number, count = self._asked.get(connection.id, (0, 0))
        if not count:
            self._episodes += 1
            number = self._episodes
        self._asked[connection.id] = number, count + 1
        if self.failing and number % 2 == 0 and count == 2:
            return leaves(connection, message)
        time.sleep(self.seconds)
        return {"actions": self.move(count * CHUNK)}


@contextmanager
def strangers(arena: Arena) -> Iterator[dict[str, Stranger]]:
    """The servers by the ids under which they are registered with the running arena, whose worker hosts them."""
    servers = {
        SLOW: Stranger(swaying(0.01, 20), SLOW_S),
        FAST: Stranger(swaying(0.015, 12)),
        FAILING: Stranger(swaying(0.006, 30), failing=True),
    }
    with ExitStack() as stack:
        for model_id, server in servers.items():
            stack.enter_context(serving(server))
            _register(model_id, server.url, arena.environment)
        for model_id in servers:
            wait_until(lambda model_id=model_id: _is_hosted(arena.url, model_id), HOSTED_WITHIN_S)  # type: ignore[misc]
        yield servers


def _register(model_id: str, url: str, environment: Mapping[str, str]) -> None:
    """As an operator does, in a process of its own."""
    command = [sys.executable, "manage.py", "add_policy", model_id, "--url", url]
    subprocess.run(command, cwd=BASE_DIR, env=dict(environment), check=True, capture_output=True, timeout=600)


def _is_hosted(url: str, model_id: str) -> bool:
    with urllib.request.urlopen(f"{url}api/models/{model_id}", timeout=30) as answer:
        return json.loads(answer.read())["hosted"] is True
