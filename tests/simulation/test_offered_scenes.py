"""Scenes that are not offered yet: commands and recordings know them, visitors do not. Offering one is one word."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from arena import kinds
from robots.scene_files import manifest_of
from simulation import catalogue

WAITING = ["workbench", "cabinet", "bridge_spoon", "bridge_carrot", "bridge_cubes", "bridge_eggplant"]
CACHES = ("robots", "scenes", "tasks", "_matcher", "missing_assets", "_words", "_rows", "_task_rows")


def forget() -> None:
    for name in CACHES:
        getattr(catalogue, name).cache_clear()


@pytest.fixture
def cabinet_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The catalogue in which `false` stands as `true` at the cabinet."""
    folder = shutil.copytree(catalogue.FOLDER, tmp_path / "catalogue")
    before, after = (folder / "scenes.yaml").read_text("utf-8").split("- id: cabinet\n")
    text = f"{before}- id: cabinet\n{after.replace('offered: false', 'offered: true', 1)}"
    (folder / "scenes.yaml").write_text(text, "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "FOLDER", folder)
        forget()
        yield
    forget()


def offered_to_visitors(client: Client) -> dict[str, Any]:
    """What each of the ways by which visitors and policies learn of scenes tells of them."""
    (robot,) = client.get("/api/robots").json()["results"]
    return {
        "places": list(kinds.get("robots").places()["widowx"]),
        "of the robot": robot["scenes"],
        "in the list": [scene["scene_id"] for scene in client.get("/api/scenes").json()["results"]],
        "of tasks": list(dict.fromkeys(task["scene_id"] for task in client.get("/api/tasks").json()["results"])),
        "of the board": list(dict.fromkeys(catalogue.task(name).scene_id for name in kinds.get("robots").tasks())),
        "for policies": [world.scene_id for world in catalogue.embodiments()],
        "opened by workers": [scene_id for _, scene_id in catalogue.playable()],
        "suggested": list(dict.fromkeys(task.scene_id for task in catalogue.suggested_tasks())),
    }


@pytest.mark.django_db
def test_visitors_are_shown_the_table_alone(client: Client) -> None:
    assert set(map(tuple, offered_to_visitors(client).values())) == {("table",)}
    assert {scene.id for scene in catalogue.scenes() if not scene.offered} == set(WAITING)


@pytest.mark.django_db
@pytest.mark.usefixtures("cabinet_offered")
def test_one_word_offers_a_scene_everywhere(client: Client) -> None:
    assert set(map(tuple, offered_to_visitors(client).values())) == {("table", "cabinet")}
    assert kinds.get("robots").task_of("open the top drawer") == "open_drawer"


@pytest.mark.parametrize("scene_id", WAITING)
def test_commands_and_recordings_know_what_is_not_offered(scene_id: str, tmp_path: Path, settings: Any) -> None:
    assert ("widowx", scene_id) in catalogue.worlds()
    assert catalogue.embodiment("widowx", scene_id).scene_id == scene_id
    assert kinds.get("robots").titles()[scene_id] == catalogue.scene(scene_id).name
    settings.SCENE_BUNDLES = tmp_path
    (tmp_path / "widowx" / scene_id).mkdir(parents=True)
    (tmp_path / "widowx" / scene_id / "manifest.json").write_text("{}")
    assert manifest_of("widowx", scene_id) == {}


def test_a_sentence_without_a_scene_means_only_what_is_offered() -> None:
    assert catalogue.task_for("open the top drawer") is None
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


@pytest.mark.parametrize("scene_id", WAITING)
def test_suggestions_are_tasks_and_free_ones_are_not(scene_id: str) -> None:
    scene = catalogue.scene(scene_id)
    assert all(catalogue.task_for(text, scene_id) for text in scene.suggestions)
    assert not any(catalogue.task_for(text, scene_id) for text in scene.free_suggestions)
