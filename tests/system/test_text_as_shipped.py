"""What `make run` starts offers text: the small model beside the arena answers twice and is named by the vote."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack import FOR_TESTS, Arena
from tests.visitor import Visitor
from texts.embedded import CONTESTANTS, QWEN_CONTESTANT

pytestmark = pytest.mark.stack
IDS = {*CONTESTANTS, "qwen2-5-coder"}
NAMES = {QWEN_CONTESTANT["name"], *(contestant["name"] for contestant in CONTESTANTS.values())}


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    for name in ("built", "arena"):  # nobody looks at pages that need what is built
        (tmp_path / name).mkdir()
    built = str(tmp_path / "built")
    made = Arena(tmp_path / "arena", **FOR_TESTS, ARENA_STATIC=built, ARENA_SCENES=built, ARENA_KINDS="")
    try:
        made.start()
        yield made
    finally:
        made.close()


def asked(visitor: Visitor, message: str) -> dict[str, Any]:
    """A battle of two models, once the worker has said that it plays them."""
    deadline = time.monotonic() + 120
    while True:
        status, answered = visitor.post("/api/arena/battle", {"message": message})
        if status == 200:
            return answered
        assert status == 503, answered
        assert time.monotonic() < deadline, answered
        time.sleep(0.5)


def test_the_model_beside_the_arena_answers_twice_and_is_named_by_the_vote(arena: Arena) -> None:
    assert {"language", "waiting"} <= arena.children().keys()
    visitor = Visitor(arena.url)
    answered = asked(visitor, "Why is the sky blue?")
    assert answered["response_a"].strip()
    assert answered["response_b"].strip()
    assert not any(name in str(answered) for name in (*NAMES, *IDS))
    battle = {"battle_id": answered["battle_id"]}
    assert visitor.post("/api/arena/battle", {"message": "And at night?", **battle})[0] == 200
    status, voted = visitor.post("/api/arena/vote", {**battle, "preference": "left"})
    assert status == 201
    assert {voted[f"model_{side}"]["model_id"] for side in "ab"} <= IDS
