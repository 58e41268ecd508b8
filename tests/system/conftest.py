"""An arena for tests that stop it, kill it or break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.stack import FOR_TESTS, Arena

MakeArena = Callable[..., Arena]


@pytest.fixture(scope="module")
def make_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeArena]:
    """Make arenas on folders of their own, not yet started, ended with the module.

    These tests look at processes, not at pages: folders stand in for the built front end and scenes.
    """
    made: list[Arena] = []

    def make(folder: Path | None = None, **environment: str) -> Arena:
        built = tmp_path_factory.mktemp("built")
        own = {**FOR_TESTS, "ARENA_STATIC": str(built), "ARENA_SCENES": str(built), **environment}
        arena = Arena(folder or tmp_path_factory.mktemp("arena"), **own)
        made.append(arena)
        return arena

    yield make
    with ThreadPoolExecutor() as together:
        list(together.map(Arena.close, made))
