"""A world whose meshes are not on this machine is offered to nobody and named, and the others go on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client

from arena import kinds
from policies.models import Policy
from robots.runtime import WorkerRuntime, preload
from simulation import assets, catalogue, worlds
from tests.simulation.planar import Planar, register

LACKS = "lost lacks arm.stl; run: python scripts/fetch_assets.py"


@pytest.fixture
def lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The planar arm wants a mesh that is not here."""
    for each in Path(assets.FOLDER).iterdir():
        (tmp_path / each.name).symlink_to(each)
    (tmp_path / "lost.sha256").write_text(f"{'0' * 64}  arm.stl\n")
    monkeypatch.setattr(assets, "FOLDER", tmp_path)
    monkeypatch.setattr(Planar, "MESHES", "lost")
    register(monkeypatch, Planar(), assets="lost")
    catalogue.missing_assets.cache_clear()
    yield
    catalogue.missing_assets.cache_clear()
    worlds.forget_worlds()


def test_what_is_missing_is_named_with_what_to_run(lost: None) -> None:
    assert catalogue.lacking() == {"planar/table": LACKS}
    assert catalogue.playable() == [world for world in catalogue.offered_worlds() if world[0] != "planar"]


def test_no_session_is_offered_the_world(lost: None) -> None:
    assert [*kinds.get("robots").places()] == ["widowx", "ur5e", "franka"]


def test_it_is_logged_at_the_start(lost: None, caplog: pytest.LogCaptureFixture, monkeypatch: Any) -> None:
    monkeypatch.setattr(kinds, "register", lambda kind: None)
    apps.get_app_config("robots").ready()
    assert f"planar/table is not played here: {LACKS}" in caplog.text


def test_the_command_lists_every_world_and_what_it_lacks(lost: None) -> None:
    out = StringIO()
    call_command("worlds", stdout=out)
    assert f"not played here: {LACKS}" in out.getvalue()
    told = StringIO()
    call_command("worlds", "--json", stdout=told)
    listed = json.loads(told.getvalue())["worlds"]
    widowx, planar = (row for row in listed if row["scene_id"] == "table")
    assert [row["scene_id"] for row in listed if row["offered"]] == [*catalogue.OFFERED, "table"]
    assert (widowx["robot_id"], widowx["control_hz"], widowx["missing"]) == ("widowx", 5, "")
    assert (planar["action_space"], planar["cameras"][-1], planar["missing"]) == ("joint_velocity_2", "wrist", LACKS)


def test_the_files_of_the_other_worlds_are_built(lost: None, tmp_path: Path) -> None:
    out, errors = StringIO(), StringIO()
    call_command("build_scenes", "--out", str(tmp_path / "built"), "--json", stdout=out, stderr=errors)
    assert {row["robot_id"] for row in json.loads(out.getvalue())["scenes"]} == {"franka", "ur5e", "widowx"}
    assert "planar/table is left out: mesh arm.stl is missing" in errors.getvalue()


def test_without_any_world_building_fails_and_says_why(
    lost: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "worlds", lambda: [("planar", "table")])
    with pytest.raises(CommandError, match=r"mesh arm\.stl is missing"):
        call_command("build_scenes", "--out", str(tmp_path / "built"), stdout=StringIO())
    assert catalogue.playable() == [("planar", "table")]


@pytest.mark.django_db
def test_a_worker_opens_policies_in_the_worlds_that_are_here(lost: None, caplog: pytest.LogCaptureFixture) -> None:
    call_command("seed_policies", verbosity=0)
    expert = Policy.objects.get(id="scripted-expert")
    preload(WorkerRuntime(), [expert], catalogue.worlds())
    assert "planar, table cannot be opened: mesh arm.stl is missing" in caplog.text
    assert "scripted-expert is ready on widowx, table" in caplog.text


@pytest.mark.django_db
def test_the_status_page_says_so(lost: None, admin_client: Client) -> None:
    page = admin_client.get("/admin/status/")
    assert LACKS in page.content.decode()


def test_a_mesh_that_comes_back_is_missed_no_more(lost: None) -> None:
    folder = Path(assets.FOLDER) / "lost"
    folder.mkdir()
    (folder / "arm.stl").write_bytes(b"mesh")
    assert assets.missing("lost") == ""
    shutil.rmtree(folder)
    assert assets.missing("lost") == LACKS
