"""A worker process keeps few scenes open: the first from its start, others from the first turn that needs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.queue import hosting
from policies.models import Policy
from robots.runtime import SCENES_KEPT, WorkerRuntime, preload
from simulation import cameras
from tests.factories import PolicyFactory

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "weights"
TABLE, WORKBENCH, CABINET, WAREHOUSE = (
    ("widowx", "table"),
    ("widowx", "workbench"),
    ("widowx", "cabinet"),
    ("ur5e", "warehouse"),
)
PLACES = [TABLE, WORKBENCH, CABINET, WAREHOUSE]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> WorkerRuntime:
    """Of a process in which nothing is drawn yet."""
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))
    monkeypatch.setattr(cameras._own, "cameras", {}, raising=False)
    return WorkerRuntime()


def drawn() -> list[tuple[str, str]]:
    """The worlds for which this thread has a renderer."""
    return [(robot, scene) for robot, scene, _ in cameras._own.cameras]


def test_the_least_recently_used_scene_and_its_renderer_go_first(runtime: WorkerRuntime) -> None:
    assert SCENES_KEPT == 2
    for place in (TABLE, WORKBENCH, TABLE, CABINET):
        runtime.environment(*place).picture()
    assert drawn() == [TABLE, CABINET]
    table = runtime.environment(*TABLE)
    assert runtime.environment(*TABLE) is table
    runtime.environment(*WORKBENCH)
    assert drawn() == [TABLE]
    assert runtime.environment(*TABLE) is table


def test_a_scene_that_was_closed_starts_and_looks_as_before(runtime: WorkerRuntime) -> None:
    def opened() -> tuple[np.ndarray, np.ndarray]:
        environment = runtime.environment(*TABLE)
        return environment.reset(7).qpos, environment.picture()

    qpos, picture = opened()
    for place in (WORKBENCH, CABINET, WAREHOUSE):
        runtime.environment(*place).picture()
    assert TABLE not in drawn()
    again, shown = opened()
    assert np.array_equal(again, qpos)
    assert np.array_equal(shown, picture)


@pytest.mark.django_db
def test_at_its_start_a_process_opens_one_scene_and_policies_of_all(runtime: WorkerRuntime) -> None:
    for name in ("film-small", "film-ur5e"):
        folder = SHIPPED / name
        PolicyFactory(id=name, adapter="film", model_path=str(folder), revision="1")
    preload(runtime, list(Policy.objects.order_by("id")), PLACES)
    assert {entry.key.model_id for entry in runtime.cache.entries} == {"film-small", "film-ur5e"}
    assert drawn() == [TABLE]


@pytest.mark.django_db
def test_a_policy_of_no_offered_scene_stops_no_start(runtime: WorkerRuntime) -> None:
    PolicyFactory(id="film-ur5e", adapter="film", model_path=str(SHIPPED / "film-ur5e"), revision="1")
    preload(runtime, [Policy.objects.get()], [TABLE])
    assert not [*runtime.cache.entries]
