"""Demonstrations are recorded, and a server that plays the nearest one drives the Panda as a remote policy."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from policies.remote.card import card_from
from policies.remote.metadata import declared
from policies.remote.policy import ask_metadata, open_card
from policies.remote.server import Offer, start
from simulation import catalogue
from simulation.environment import Environment
from simulation.runner import run_episode
from tests.stack import BASE_DIR

TASK = "libero_object_7"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BASE_DIR / "scripts" / "libero" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("demonstrations")
    assert script("demonstrate").record(Environment("panda", TASK), TASK, 0, place)
    return place


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    nearest = script("serve_nearest")
    files = sorted(folder.glob("*.npz"))
    known = nearest.episodes(files, 1)
    server = start(Offer(nearest.card(files, 1), lambda: nearest.Nearest(known)), "127.0.0.1", 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
    server.shutdown()


def test_a_demonstration_has_all_frames_of_an_episode_that_was_solved(folder: Path) -> None:
    with np.load(folder / f"{TASK}-00.npz", allow_pickle=False) as told:
        count = len(told["actions"])
        assert 50 < count < 280
        assert told["agentview"].shape == told["wrist"].shape == (count, 128, 128, 3)
        assert told["state"].shape == (count, 8)
        assert str(told["text"]) == catalogue.wording(TASK, catalogue.task(TASK).slots[0])


def test_the_nearest_demonstration_does_the_task_from_its_own_start(url: str) -> None:
    environment = Environment("panda", TASK)
    environment.reset(0)
    text = catalogue.wording(TASK, catalogue.task(TASK).slots[0])
    card = card_from("nearest", url, declared(ask_metadata(url)), {})
    with closing(open_card(card)) as policy:
        spec = policy.spec
        result = run_episode(environment, policy, text, 0, (), None, spec.chunking, spec.cameras)
    assert result.success
