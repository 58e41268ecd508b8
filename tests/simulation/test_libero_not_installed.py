"""LIBERO asked for where it is not, and files of it that are not the ones that were made."""

from __future__ import annotations

import hashlib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from simulation import assets, catalogue, optional_rows
from simulation.assets import AssetError
from simulation.catalogue_rows import CatalogueError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(assets.LIBERO, str(tmp_path))
    (tmp_path / "libero").mkdir()
    content = b"- id: libero_goal_0\n"
    (tmp_path / "libero" / "scenes.yaml").write_bytes(content)
    (tmp_path / "libero.sha256").write_text(f"{hashlib.sha256(content).hexdigest()}  scenes.yaml\n")
    optional_rows._read.cache_clear()
    assets.robot_meshes.cache_clear()
    return tmp_path


@pytest.mark.django_db
def test_its_suites_say_what_to_type() -> None:
    with pytest.raises(CommandError, match=r"libero-object is not installed; run: make libero"):
        call_command("evaluate", "hold-still", "--suite", "libero-object", stdout=StringIO(), stderr=StringIO())


def test_so_does_its_course_of_demonstrations(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"unknown course 'libero'; .*; run: make libero"):
        call_command("demos", "--course", "libero", "--out", str(tmp_path / "demos"), stderr=StringIO())


@pytest.mark.django_db
@pytest.mark.parametrize(
    "asked",
    [
        ("evaluate", "hold-still", "--robot", "panda", "--scene", "libero_object_7"),
        ("evaluate", "hold-still", "--task", "libero_object_7"),
        ("play", "hello", "--robot", "panda", "--left", "hold-still", "--right", "hold-still"),
    ],
)
def test_what_only_libero_has_is_refused_with_what_to_type(
    asked: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(assets.LIBERO, str(tmp_path))
    with pytest.raises(CommandError, match=r"unknown .*; LIBERO is not installed; run: make libero"):
        call_command(*asked, stdout=StringIO(), stderr=StringIO())


def test_a_scene_of_libero_cannot_be_offered_and_the_reason_says_what_to_type() -> None:
    with pytest.raises(CatalogueError, match=r"unknown scene 'libero_goal_0'; .*; run: make libero"):
        catalogue.offer(("table", "libero_goal_0"))
    with pytest.raises(CatalogueError, match=r"unknown scene 'libera'; known: [a-z_, ]+$"):
        catalogue.offer(("libera",))


def test_the_list_of_worlds_says_what_to_type() -> None:
    out = StringIO()
    call_command("worlds", stdout=out)
    assert "panda/libero_* is not installed; run: make libero" in out.getvalue()


def test_rows_are_read_from_the_files_that_were_made(folder: Path) -> None:
    assert [row["id"] for row in optional_rows.rows("scenes")] == ["libero_goal_0"]
    assert optional_rows.rows("robots")[0]["scenes"] == ["libero_goal_0"]
    assert optional_rows.suites(["table", "libero_goal_1", "libero_10_3"]) == {
        "goal": ["libero_goal_1"],
        "10": ["libero_10_3"],
    }


def test_a_file_with_another_hash_is_refused_by_name(folder: Path) -> None:
    (folder / "libero" / "scenes.yaml").write_text("- id: other\n")
    with pytest.raises(CatalogueError, match=r"scenes.yaml has sha256 [0-9a-f]{64}, expected .*; run: make libero"):
        optional_rows.rows("scenes")
    with pytest.raises(AssetError, match=r"scenes.yaml has sha256 .*; run: make libero"):
        assets.robot_meshes("libero")


def test_a_missing_file_says_what_to_type(folder: Path) -> None:
    (folder / "libero" / "scenes.yaml").unlink()
    assert assets.missing("libero") == "libero lacks scenes.yaml; run: make libero"
    with pytest.raises(AssetError, match="run: make libero"):
        assets.robot_meshes("libero")
    assert assets.missing("panda").endswith("run: make libero")
