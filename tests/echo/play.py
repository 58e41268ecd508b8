"""Playing one side: each contestant answers with the words that it was told, in its own way."""

from __future__ import annotations

import time
from collections.abc import Callable

from arena import actions
from arena.actions import Ending
from arena.queue.sweeps import worker_name
from arena.store import get_store
from tests.echo.kind import LONGEST

Answer = Callable[[list[str]], list[str]]
ANSWERS: dict[str, Answer] = {"repeats": lambda words: words, "reverses": lambda words: words[:0:-1]}
"""Family of a contestant -> what it answers. One swallows its last word, so that the sides are not equally long."""


def play(episode_id: str) -> None:
    """Raises KeyError for a contestant that nobody can play; then the core settles the attempt as failed."""
    attempt = actions.claim_attempt(episode_id, worker_name())
    if attempt is None:
        return
    began = time.perf_counter()
    words = ANSWERS[attempt.model.family](attempt.turn.instruction.split())[:LONGEST]
    for number, word in enumerate(["", *words]):
        if not actions.report_progress(attempt, number):
            return
        actions.pass_chunks(attempt, number, [word.encode()])
    about = {"_id": attempt.episode_id, "attempt": attempt.tries, "turn_id": attempt.turn_id, "side": attempt.side}
    get_store().save({**about, "battle_id": attempt.turn.battle_id, "words": words})
    actions.finish_attempt(attempt, Ending(len(words), "answered", (time.perf_counter() - began) * 1e3))
