"""Cases played side by side: by this process, and by others that are started for it."""

from __future__ import annotations

import importlib
import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Self, TypeVar

Case = TypeVar("Case")
Played = TypeVar("Played")
AHEAD = 3
"""Cases that are handed out for each other process, so that none waits for the next."""
LOADED = ("robots.evaluation", "policies.film.exported")
"""What other processes import (MuJoCo, most of all) while this one prepares the cases. Who needs torch loads it."""


class Processes:
    """So many processes, this one among them. The others start at once: make it before this one imports torch."""

    def __init__(self, count: int) -> None:
        """Raises ValueError for a count below 1."""
        if count < 1:
            raise ValueError(f"expected at least 1 process, got {count}")
        self._others = count - 1
        self._pool: ProcessPoolExecutor | None = None
        if self._others:
            # Spawned, not forked: a renderer does not survive a fork.
            self._pool = ProcessPoolExecutor(self._others, multiprocessing.get_context("spawn"))
            for _ in range(self._others):
                self._pool.submit(_load)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def outcomes(self, play: Callable[[Case], Played], todo: Sequence[Case]) -> Iterator[Played]:
        """What `play` answers of each, in order. With several processes it must be picklable.

        Few are begun ahead, and whoever stops iterating stops the rest.
        """
        if self._pool is None:
            yield from map(play, todo)
            return
        given: deque[tuple[Case, Future[Played]]] = deque()
        try:
            for case in todo:
                if sum(not future.done() for _, future in given) < AHEAD * self._others:
                    given.append((case, self._pool.submit(play, case)))
                    continue
                given.append((case, _played(play, case)))
                while given and given[0][1].done():
                    yield given.popleft()[1].result()
            self._help(play, given)
            while given:
                yield given.popleft()[1].result()
        finally:
            for _, future in given:
                future.cancel()

    def _help(self, play: Callable[[Case], Played], given: deque[tuple[Case, Future[Played]]]) -> None:
        """Play what no other process has begun, from the end on: they begin at the front."""
        for place in reversed(range(len(given))):
            case, future = given[place]
            if future.cancel():
                given[place] = case, _played(play, case)


def _played(play: Callable[[Case], Played], case: Case) -> Future[Played]:
    """Here and now."""
    future: Future[Played] = Future()
    future.set_result(play(case))
    return future


def _load() -> None:
    for name in LOADED:
        importlib.import_module(name)
