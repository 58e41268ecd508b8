"""Scenes that are not offered: commands and recordings know them, visitors do not. The operator's setting offers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from arena import kinds
from robots.scene_files import manifest_of
from simulation import catalogue
from simulation.catalogue_rows import CatalogueError

WAITING = [scene.id for scene in catalogue.scenes() if scene.id not in catalogue.OFFERED]


@pytest.fixture
def offered() -> Iterator[Callable[..., None]]:
    """A call that offers scenes, as ARENA_OFFERED_SCENES does at the start."""
    yield lambda *scene_ids: catalogue.offer(scene_ids)
    catalogue.offer(None)


def offered_to_visitors(client: Client) -> dict[str, Any]:
    """What each of the ways by which visitors and policies learn of scenes tells of them."""
    robots = client.get("/api/robots").json()["results"]
    return {
        "places": [scene_id for scenes in kinds.get("robots").places().values() for scene_id in scenes],
        "of robots": [scene_id for robot in robots for scene_id in robot["scenes"]],
        "in the list": [scene["scene_id"] for scene in client.get("/api/scenes").json()["results"]],
        "of tasks": list(dict.fromkeys(task["scene_id"] for task in client.get("/api/tasks").json()["results"])),
        "of the board": list(dict.fromkeys(catalogue.task(name).scene_id for name in kinds.get("robots").tasks())),
        "for policies": [world.scene_id for world in catalogue.embodiments()],
        "opened by workers": [scene_id for _, scene_id in catalogue.playable()],
        "suggested": list(dict.fromkeys(task.scene_id for task in catalogue.suggested_tasks())),
    }


@pytest.mark.django_db
def test_visitors_are_shown_what_is_offered_by_default_alone(client: Client) -> None:
    assert set(map(tuple, offered_to_visitors(client).values())) == {catalogue.OFFERED}
    assert WAITING, "every scene is offered by default: then there is nothing to keep from visitors"


@pytest.mark.django_db
@pytest.mark.parametrize("scene_ids", [("table", "cabinet"), ("cabinet", "bridge_carrot")])
def test_what_the_operator_offers_is_offered_everywhere_and_no_other(
    scene_ids: tuple[str, ...], client: Client, offered: Callable[..., None]
) -> None:
    offered(*scene_ids)
    assert set(map(tuple, offered_to_visitors(client).values())) == {scene_ids}


@pytest.mark.parametrize(
    ("scene_ids", "fault"),
    [(["tabel"], "unknown scene 'tabel'; known: table, workbench"), ([], "at least one scene has to be offered")],
)
def test_an_offer_of_what_is_not_there_is_refused_and_changes_nothing(scene_ids: list[str], fault: str) -> None:
    with pytest.raises(CatalogueError, match=fault):
        catalogue.offer(scene_ids)
    assert [scene.id for scene in catalogue.offered_scenes()] == list(catalogue.OFFERED)


def started(scenes: str) -> subprocess.CompletedProcess[str]:
    """`manage.py worlds` of an operator who offers these scenes."""
    command = [sys.executable, "manage.py", "worlds", "--json"]
    here = {**os.environ, "ARENA_OFFERED_SCENES": scenes, "DJANGO_SETTINGS_MODULE": "vlaarena.settings"}
    return subprocess.run(command, cwd=settings.BASE_DIR, env=here, capture_output=True, text=True, timeout=60)


def test_the_setting_says_what_an_arena_offers() -> None:
    rows = json.loads(started("table, workbench").stdout)["worlds"]
    assert [row["scene_id"] for row in rows if row["offered"]] == ["table", "workbench"]


def test_an_arena_does_not_start_with_a_scene_that_there_is_not() -> None:
    refused = started("table,garden")
    assert refused.returncode != 0
    assert "ARENA_OFFERED_SCENES: unknown scene 'garden'; known: table, workbench, cabinet" in refused.stderr


def test_boards_keep_the_tasks_of_a_scene_that_is_no_longer_offered() -> None:
    robots = kinds.get("robots")
    assert robots.task_of("open the top drawer", "cabinet") == "open_drawer"
    assert robots.task_of("open the top drawer", "table") == ""


@pytest.mark.parametrize("scene_id", [scene.id for scene in catalogue.scenes()])
def test_commands_and_recordings_know_what_is_not_offered(scene_id: str, tmp_path: Path, settings: Any) -> None:
    robot_id = catalogue.scene(scene_id).robots[0]
    assert (robot_id, scene_id) in catalogue.worlds()
    assert catalogue.embodiment(robot_id, scene_id).scene_id == scene_id
    assert kinds.get("robots").titles()[scene_id] == catalogue.scene(scene_id).name
    settings.SCENE_BUNDLES = tmp_path
    (tmp_path / robot_id / scene_id).mkdir(parents=True)
    (tmp_path / robot_id / scene_id / "manifest.json").write_text("{}")
    assert manifest_of(robot_id, scene_id) == {}


def test_a_sentence_without_a_scene_means_only_what_is_offered() -> None:
    assert catalogue.task_for("put carrot on plate") is None
    assert catalogue.task_for("put carrot on plate", "bridge_carrot") == (
        "bridge_carrot",
        {"object": "carrot", "target": "plate"},
    )
    assert catalogue.task_for("open the top drawer", "table") is None
    assert catalogue.task_for("open the top drawer", "cabinet") == ("open_drawer", {"drawer": "top_drawer"})


@pytest.mark.parametrize(
    "said",
    [
        "open the drawer", "open the cabinet", "open both drawers", "open the top drawer slowly",
        "don't open the top drawer", "open the top drawer halfway", "open the top drawer and the bottom drawer",
        "put the red cube in the cabinet", "put the red cube under the top drawer",
        "take the cube out of the top drawer",
    ],
)  # fmt: skip
def test_what_sounds_like_a_task_of_the_cabinet_and_is_none(said: str) -> None:
    assert catalogue.task_for(said, "cabinet") is None


def test_every_wording_of_a_scene_is_understood_in_it() -> None:
    for one in catalogue.instructions(of=catalogue.tasks()):
        scene_id = catalogue.task(one.task_id).scene_id
        assert catalogue.task_for(one.text, scene_id) == (one.task_id, dict(one.slots)), one


@pytest.mark.parametrize("scene_id", [scene.id for scene in catalogue.scenes()])
def test_suggestions_are_tasks_and_free_ones_are_not(scene_id: str) -> None:
    scene = catalogue.scene(scene_id)
    assert all(catalogue.task_for(text, scene_id) for text in scene.suggestions)
    assert not any(catalogue.task_for(text, scene_id) for text in scene.free_suggestions)
