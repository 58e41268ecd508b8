"""What a fork takes against a plain episode: reading the recording and restoring its state before the same play."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import bson

from robots.players import Player, open_folder
from simulation.cameras import render_profile
from simulation.environment import Environment
from simulation.episode_format import build_document, record_of_chunk, state_at
from simulation.recorder import Recorder

INSTRUCTION, SEED = "pick up the red cube", 3


def ratios(folder: Path, rounds: int) -> list[float]:
    """Processor time of an episode from the first record of a recording, over that of the same one from its seed.

    The recording is decoded as the store's client decodes it; the way to the store, some milliseconds, is not in it.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    environment = Environment()
    player = open_folder(folder, environment)
    recorder = Recorder()
    _play(environment, player, recorder, lambda: None)
    kept = bson.encode(build_document({"_id": "ep"}, recorder.recording, environment, render_profile()))

    def go_on() -> None:
        document = bson.decode(kept)
        environment.restore(state_at(document, record_of_chunk(document, 0)))

    def seconds(before: Callable[[], None]) -> float:
        began = time.process_time()
        _play(environment, player, Recorder(), before)
        return time.process_time() - began

    return [seconds(go_on) / seconds(lambda: None) for _ in range(rounds)]


def _play(environment: Environment, player: Player, recorder: Recorder, before: Callable[[], None]) -> None:
    environment.reset(SEED)
    before()
    player.play(environment, INSTRUCTION, SEED, [recorder])
