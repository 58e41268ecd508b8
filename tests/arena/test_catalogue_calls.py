"""Robots, scenes, tasks, models, and the files with which a browser builds a scene."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from arena.models import ContestantStatus
from simulation import catalogue
from tests.arena.conftest import Visitor
from tests.factories import PolicyFactory, ReferenceFactory

HASH = "a" * 64


@pytest.fixture
def bundle(tmp_path: Path, settings: Any) -> Path:
    settings.SCENE_BUNDLES = tmp_path
    folder = tmp_path / "widowx" / "table"
    folder.mkdir(parents=True)
    manifest = {
        "robot_id": "widowx",
        "scene_id": "table",
        "scene_hash": HASH,
        "engine_version": "3.14.0",
        "xml": "scene.123.xml",
        "assets": [{"name": "base.stl", "file": "base.456.stl", "sha256": "b" * 64, "bytes": 4}],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "scene.123.xml").write_text("<mujoco/>")
    (folder / "base.456.stl").write_bytes(b"mesh")
    (folder / "secret.txt").write_text("not in the manifest")
    return folder


def test_a_scene_names_every_file_by_an_address_that_never_changes_its_content(client: Client, bundle: Path) -> None:
    scene = client.get("/api/scenes/widowx/table/").json()
    assert scene["scene_hash"] == HASH
    assert scene["xml_url"] == f"/api/scenes/widowx/table/{HASH}/scene.123.xml"
    for url, content in ((scene["xml_url"], b"<mujoco/>"), (scene["assets"][0]["url"], b"mesh")):
        served = client.get(url)
        assert (served.status_code, served.content) == (200, content)
        assert served["Cache-Control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    "address",
    [f"{HASH}/secret.txt", f"{HASH}/manifest.json", f"{'b' * 64}/scene.123.xml", f"{HASH}/..%2f..%2fsecret.txt"],
)
def test_only_the_files_of_this_scene_are_served(client: Client, bundle: Path, address: str) -> None:
    assert client.get(f"/api/scenes/widowx/table/{address}").status_code == 404


def test_a_browser_keeps_a_scenes_files_whatever_its_cookies_are(visitor: Visitor, bundle: Path) -> None:
    visitor.open()
    served = visitor.get(f"scenes/widowx/table/{HASH}/scene.123.xml")
    assert "immutable" in served["Cache-Control"]
    assert "cookie" not in served.get("Vary", "").lower()


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["widowx/kitchen", "franka/table", "widowx/.."])
def test_a_scene_that_is_not_in_the_catalogue_is_not_found(client: Client, bundle: Path, place: str) -> None:
    assert client.get(f"/api/scenes/{place}/").status_code == 404


def test_a_scene_whose_files_were_not_built_says_how_to_build_them(
    client: Client, tmp_path: Path, settings: Any
) -> None:
    settings.SCENE_BUNDLES = tmp_path
    refused = client.get("/api/scenes/widowx/table/")
    assert (refused.status_code, refused.json()["code"]) == (503, "scene_not_built")
    assert "build_scenes" in refused.json()["detail"]


def test_the_catalogue_is_served_as_written(client: Client) -> None:
    robots = client.get("/api/robots").json()["results"]
    assert [robot["robot_id"] for robot in robots] == [*dict(catalogue.offered_worlds())]
    scenes = client.get("/api/scenes").json()["results"]
    assert [scene["scene_id"] for scene in scenes] == [*catalogue.OFFERED]
    tasks = client.get("/api/tasks").json()
    assert {task["task_id"] for task in tasks["results"]} == {task.id for task in catalogue.offered_tasks()}
    suggested = [task["task_id"] for task in tasks["results"] if task["suggested"]]
    assert suggested == [task.id for task in catalogue.suggested_tasks()]
    assert suggested[:3] == ["pick", "place", "stack"]
    assert tasks["results"][0]["goal"] == {"lifted": {"thing": "{object}", "height_m": 0.05}}
    assert tasks["results"][0]["instruction_template"] == "pick up the {object}"
    assert tasks["suggestions"] == list(catalogue.scene("table").suggestions)


def test_models_are_listed_with_status_and_measured_success(visitor: Visitor) -> None:
    PolicyFactory(id="gone", status=ContestantStatus.RETIRED, status_reason="Too slow")
    PolicyFactory(id="good", card={"measured": {"pick": {"rate": 0.97, "low": 0.94, "high": 0.99}}})
    ReferenceFactory(id="hold-still")
    listed = {model["model_id"]: model for model in visitor.get("models").json()["results"]}
    assert set(listed) == {"alpha", "beta", "gone", "good", "hold-still"}
    assert (listed["gone"]["status"], listed["gone"]["status_reason"]) == ("retired", "Too slow")
    assert listed["good"]["measured"]["pick"]["rate"] == 0.97
    assert listed["hold-still"]["reference"] is True
    assert visitor.get("models/good").json() == listed["good"]
    assert visitor.get("models/good/").json() == listed["good"]
    refused = visitor.get("models/nobody")
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert not {"pairing_weight", "model_path", "card"} & set(listed["good"])
