import hashlib
import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from django.core.management import call_command

from simulation import bundle_inputs, catalogue
from simulation.bundle import MANIFEST, write_scene_bundle
from simulation.environment import Environment
from simulation.sleeping import Sleep, apply_physics
from simulation.worlds.widowx import FINGER, JOINTS
from tests.simulation.conftest import Record

SAME = (
    "body_mass",
    "body_inertia",
    "geom_size",
    "geom_pos",
    "actuator_gainprm",
    "actuator_biasprm",
    "mesh_vert",
    "jnt_range",
    "dof_damping",
    "qpos0",
    "cam_pos",
    "cam_quat",
    "mat_rgba",
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    write_scene_bundle("widowx", "table", folder)
    return folder


@pytest.fixture
def manifest(bundle: Path) -> dict[str, Any]:
    return json.loads((bundle / "manifest.json").read_text())


def loaded(bundle: Path, manifest: dict[str, Any]) -> mujoco.MjModel:
    """The model as a browser builds it: from nothing but the bundle's files."""
    assets = {asset["name"]: (bundle / asset["file"]).read_bytes() for asset in manifest["assets"]}
    return mujoco.MjModel.from_xml_string((bundle / manifest["xml"]).read_text(), assets)


def test_the_bundle_loads_and_equals_the_compiled_model(
    bundle: Path, manifest: dict[str, Any], environment: Environment
) -> None:
    theirs, ours = loaded(bundle, manifest), environment.model
    assert (theirs.nq, theirs.nv, theirs.nu) == (manifest["nq"], manifest["nv"], manifest["nu"]) == (40, 36, 7)
    for name in SAME:
        assert np.array_equal(getattr(theirs, name), getattr(ours, name)), name


def test_every_file_is_named_and_hashed_by_its_content(bundle: Path, manifest: dict[str, Any]) -> None:
    files = {"manifest.json", manifest["xml"], *(asset["file"] for asset in manifest["assets"])}
    assert {path.name for path in bundle.iterdir()} == files
    assert len(manifest["assets"]) == 10
    for asset in manifest["assets"]:
        content = (bundle / asset["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == asset["sha256"]
        assert len(content) == asset["bytes"]
        assert asset["sha256"][:12] in asset["file"]


def test_a_record_can_be_simulated_between_its_steps_from_the_bundle_alone(
    bundle: Path, manifest: dict[str, Any], record: Record
) -> None:
    document = record("pick up the red cube")
    model = loaded(bundle, manifest)
    apply_physics(model, document["physics"])
    sleep, data = Sleep(model), mujoco.MjData(model)
    pieces, substeps = manifest["ramp"]["pieces"], manifest["ramp"]["substeps"]
    for step in range(len(document["actions"])):
        data.qpos[:], data.qvel[:] = document["states"][step]["qpos"], document["states"][step]["qvel"]
        data.qacc_warmstart[:] = document["qacc_warmstart"][step]
        sleep.derive(data, np.array(document["asleep"][step], np.int32))
        old, new = np.array(document["control"][step]), np.array(document["control"][step + 1])
        for piece in range(1, pieces + 1):
            data.ctrl[:6] = old[JOINTS] + (new[JOINTS] - old[JOINTS]) * (piece / pieces)
            data.ctrl[6] = new[FINGER]
            mujoco.mj_step(model, data, substeps)
        assert data.qpos.tolist() == document["states"][step + 1]["qpos"], step


def test_the_manifest_names_scene_engine_cameras_and_things(manifest: dict[str, Any], environment: Environment) -> None:
    assert manifest["scene_hash"] == environment.scene_hash
    assert manifest["engine_version"] == environment.engine_version
    assert [camera["name"] for camera in manifest["cameras"]] == ["workspace", "front", "side", "top"]
    assert manifest["cameras"][0]["pos"] == pytest.approx([0, -0.16, 0.36])
    assert manifest["cameras"][0]["fovy"] == 46
    assert manifest["objects"] == ["red_cube", "yellow_cube", "blue_cylinder", "green_sphere"]
    assert len(manifest["home"]) == manifest["nq"]


def test_building_again_changes_nothing_and_removes_what_is_old(bundle: Path) -> None:
    before = {path.name: path.read_bytes() for path in bundle.iterdir()}
    (bundle / "scene.0123456789ab.xml").write_text("old")
    write_scene_bundle("widowx", "table", bundle)
    assert {path.name: path.read_bytes() for path in bundle.iterdir()} == before


@pytest.fixture
def only_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "worlds", lambda: [("widowx", "table")])


def rebuilt(folder: Path, *options: str) -> bool:
    """Whether the command writes the bundle of the table anew."""
    manifest = folder / "widowx" / "table" / MANIFEST
    before = manifest.stat().st_ino if manifest.is_file() else None
    call_command("build_scenes", "--out", str(folder), *options, stdout=StringIO())
    return manifest.stat().st_ino != before


def test_a_bundle_is_built_again_only_after_something_in_it_has_changed(
    only_the_table: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rebuilt(tmp_path)
    assert not rebuilt(tmp_path)
    assert rebuilt(tmp_path, "--anew")
    monkeypatch.setattr(bundle_inputs, "engine_version", lambda: "another")
    assert rebuilt(tmp_path)
    assert not rebuilt(tmp_path)
    (tmp_path / "widowx" / "table" / MANIFEST).unlink()
    assert rebuilt(tmp_path)


def test_the_xml_of_a_scene_is_among_what_its_bundle_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(bundle_inputs.ROOT / "worlds", tmp_path / "simulation" / "worlds")
    shutil.copytree(bundle_inputs.ROOT / "catalogue_data", tmp_path / "simulation" / "catalogue_data")
    monkeypatch.setattr(bundle_inputs, "ROOT", tmp_path / "simulation")
    monkeypatch.setattr(bundle_inputs, "START", "nothing")
    bundle_inputs._code.cache_clear()
    before = bundle_inputs.inputs_of("widowx", "table")
    (tmp_path / "simulation" / "worlds" / "table.xml").write_text("<mujoco/>")
    bundle_inputs._code.cache_clear()
    changed = bundle_inputs.inputs_of("widowx", "table")
    bundle_inputs._code.cache_clear()
    assert before != changed


def test_the_code_of_a_bundle_is_what_it_imports_and_no_expert() -> None:
    names = {path.relative_to(bundle_inputs.ROOT).as_posix() for path in bundle_inputs.sources_of(bundle_inputs.START)}
    assert {"bundle.py", "worlds/__init__.py", "worlds/widowx.py", "control/torque.py", "view_format.py"} <= names
    assert not {name for name in names if "expert" in name or name.startswith("slimming")}


def test_the_command_builds_every_robot_and_scene(tmp_path: Path) -> None:
    out = StringIO()
    call_command("build_scenes", "--out", str(tmp_path), "--json", stdout=out)
    built = [(row["robot_id"], row["scene_id"]) for row in json.loads(out.getvalue())["scenes"]]
    assert built == catalogue.worlds()
    assert all((tmp_path / robot_id / scene_id / "manifest.json").exists() for robot_id, scene_id in built)
