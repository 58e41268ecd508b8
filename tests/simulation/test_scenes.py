"""What holds for every scene of the WidowX beside the table top, and for each of its variants."""

import hashlib
import itertools
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import brotli
import mujoco
import numpy as np
import pytest

from simulation import assets
from simulation.catalogue import FOLDER, scene_from
from simulation.catalogue_rows import Row, read_rows
from simulation.worlds import bridge, widowx
from simulation.worlds.layout import is_waiting
from simulation.worlds.table import build as build_table
from tests.simulation.staging import SCENES, VARIANTS, Stage, flattened

SEEDS = range(24)
PIXELS = 128
MEGABYTE = 1_000_000
HASHES = """
from tests.simulation.test_scenes import VARIANTS, hashes
print(*(hash for world in VARIANTS for hash in hashes(*world)))
"""
SAME = (
    "body_mass", "body_inertia", "geom_size", "geom_pos", "geom_quat", "geom_friction", "mesh_vert", "jnt_range",
    "dof_frictionloss", "qpos0", "cam_pos", "cam_quat", "site_pos", "mat_rgba",
)  # fmt: skip

worlds = pytest.mark.parametrize(("scene_id", "variant"), VARIANTS)
scenes = pytest.mark.parametrize("scene_id", SCENES)


def hashes(scene_id: str, variant: str) -> list[str]:
    stage = Stage(scene_id, variant)
    return [hashlib.sha256(stage.reset(seed).data.qpos.tobytes()).hexdigest() for seed in (0, 7, 123456)]


def present(stage: Stage) -> list[str]:
    """The things that the seed has not left out."""
    return [name for name in stage.scene.objects(stage.variant) if not is_waiting(stage.joint(name))]


def starts(scene_id: str, variant: str = "", seeds: range = SEEDS) -> Iterator[tuple[int, Stage]]:
    stage = Stage(scene_id, variant)
    for seed in seeds:
        yield seed, stage.reset(seed)


def entry(scene_id: str) -> Row:
    rows = read_rows((FOLDER / "scenes.yaml").read_text("utf-8"), "scenes.yaml")
    return next(row for row in rows if row["id"] == scene_id)


def test_a_seed_gives_the_same_start_in_any_process() -> None:
    here = [each for world in VARIANTS for each in hashes(*world)]
    run = subprocess.run([sys.executable, "-c", HASHES], capture_output=True, text=True, check=True)
    assert run.stdout.split() == here
    assert len(set(here)) == len(here)


@worlds
def test_a_start_says_where_everything_is(scene_id: str, variant: str) -> None:
    model = flattened(scene_id, variant)[1]
    joints = {model.joint(index).name for index in range(model.njnt)}
    sampled = SCENES[scene_id].sample(np.random.default_rng(0), variant)
    assert set(sampled) == {name for name in joints if not name.startswith(widowx.PREFIX)}


@worlds
def test_what_a_seed_places_stays_where_it_is(scene_id: str, variant: str) -> None:
    for seed, stage in starts(scene_id, variant, range(6)):
        before = stage.data.qpos.copy()
        stage.wait(500)
        for name in SCENES[scene_id].sample(np.random.default_rng(0), variant):
            first = int(stage.model.joint(name).qposadr[0])
            moved = stage.data.qpos[first : first + 3] - before[first : first + 3]
            assert np.abs(moved[: len(stage.joint(name))]).max() < 0.002, (seed, name)


@worlds
def test_nothing_starts_inside_of_anything_else_or_at_the_robot(scene_id: str, variant: str) -> None:
    for seed, stage in starts(scene_id, variant):
        mujoco.mj_forward(stage.model, stage.data)
        for contact in stage.data.contact:
            names = [stage.model.body(int(stage.model.geom_bodyid[geom])).name for geom in contact.geom]
            assert not any(name.startswith(widowx.PREFIX) for name in names), (seed, names)
            assert contact.dist > -0.001, (seed, names)


@worlds
def test_things_start_apart_and_within_reach(scene_id: str, variant: str) -> None:
    for seed, stage in starts(scene_id, variant):
        names = present(stage)
        for one, other in itertools.combinations(names, 2):
            assert np.linalg.norm(stage.place(one)[:2] - stage.place(other)[:2]) > 0.04, (seed, one, other)
        for name in names:
            place = stage.place(name)
            assert (place[:2] > widowx.WORKSPACE[0, :2]).all(), (seed, name)
            assert (place[:2] < widowx.WORKSPACE[1, :2]).all(), (seed, name)
            for height in (max(place[2], widowx.WORKSPACE[0, 2]), place[2] + 0.1):
                at = np.array([*place[:2], height])
                assert stage.controller.arm.solve(widowx.START_ARM, at, widowx.pointing_down(0.0))[1], (seed, name)


@worlds
def test_the_policies_see_everything(scene_id: str, variant: str) -> None:
    """Of each thing at least a third is neither outside of the picture nor behind the arm or another thing."""
    stage = Stage(scene_id, variant)
    with mujoco.Renderer(stage.model, PIXELS, PIXELS) as renderer:
        renderer.enable_segmentation_rendering()
        for seed in SEEDS:
            stage.reset(seed)
            mujoco.mj_forward(stage.model, stage.data)
            shown = pixels(renderer, stage, present(stage))
            for name, (seen, whole) in shown.items():
                assert whole > 25, (seed, name)
                assert seen > whole / 3, (seed, name, seen, whole)


def pixels(renderer: mujoco.Renderer, stage: Stage, names: list[str]) -> dict[str, tuple[int, int]]:
    """How many pixels show each thing, and how many would if it were alone."""
    option = mujoco.MjvOption()
    renderer.update_scene(stage.data, "workspace", option)
    together = bodies(renderer, stage.model)
    found = {}
    groups = stage.model.geom_group.copy()
    for name in names:
        body = stage.model.body(name).id
        stage.model.geom_group[(stage.model.geom_bodyid != body) & (groups < 3)] = 5
        renderer.update_scene(stage.data, "workspace", option)
        found[name] = (int((together == body).sum()), int((bodies(renderer, stage.model) == body).sum()))
        stage.model.geom_group[:] = groups
    return found


def bodies(renderer: mujoco.Renderer, model: mujoco.MjModel) -> np.ndarray:
    """The body that each pixel shows, or -1."""
    geoms = renderer.render()[..., 0]
    return np.where(geoms >= 0, model.geom_bodyid[geoms], -1)


@worlds
def test_the_xml_alone_makes_the_same_model(scene_id: str, variant: str) -> None:
    xml, model = flattened(scene_id, variant)
    meshes = assets.robot_meshes(widowx.MESHES)
    again = mujoco.MjSpec.from_string(xml, assets=dict(meshes)).compile()
    for name in SAME:
        assert np.array_equal(getattr(again, name), getattr(model, name)), name


@scenes
def test_a_browser_downloads_less_than_a_megabyte(scene_id: str) -> None:
    content = [flattened(scene_id, "")[0].encode(), *assets.robot_meshes(widowx.MESHES).values()]
    assert sum(len(brotli.compress(each, quality=5)) for each in content) < MEGABYTE


@scenes
def test_the_catalogue_names_the_things_regions_joints_and_cameras_that_there_are(scene_id: str) -> None:
    row, model, scene = entry(scene_id), flattened(scene_id, "")[1], SCENES[scene_id]
    described = scene_from(row)
    things = {
        kind: {thing.id for thing in described.things.values() if thing.kind == kind} for kind in ("object", "target")
    }
    assert things == {"object": set(scene.objects("")), "target": set(scene.TARGETS)}
    for name, region in row.get("regions", {}).items():
        assert model.site(name).id >= 0
        assert model.body(region["of"]).id > 0
    for name in row.get("joints", {}):
        assert model.joint(name).range[1] > model.joint(name).range[0] == 0.0
        assert name in described.things
    assert {camera.name for camera in described.cameras} == {model.camera(index).name for index in range(model.ncam)}


@scenes
def test_nouns_name_one_thing_each(scene_id: str) -> None:
    nouns = [noun.text for thing in scene_from(entry(scene_id)).things.values() for noun in thing.nouns]
    assert len(nouns) == len(set(nouns))


def test_scenes_share_the_light_and_the_physics_of_the_table_top() -> None:
    table = build_table(False).compile()
    for scene_id in SCENES:
        model = flattened(scene_id, "")[1]
        assert model.opt.timestep == table.opt.timestep
        assert np.allclose(model.light_dir, table.light_dir, atol=1e-5)
        assert model.material("table").rgba.tolist() == table.material("table").rgba.tolist()


@pytest.mark.parametrize("scene_id", ["cabinet", *bridge.SCENES])
def test_tasks_ask_for_what_there_is(scene_id: str) -> None:
    for row in tasks(scene_id):
        assert row["environment"]["scene"] == scene_id
        described, model = scene_from(entry(scene_id)), flattened(scene_id, "")[1]
        for slots in fillings(row["values"]):
            assert set(slots.values()) <= set(described.things)
            for joint in named(row["goal"], "joint"):
                assert model.joint(joint.format(**slots)).id >= 0
            for region in named(row["goal"], "region"):
                assert model.site(region.format(**slots)).id >= 0
            for template in row["instruction_templates"]:
                assert "{" not in template["text"].format(**slots)


def test_published_instructions_are_those_of_simplerenv() -> None:
    said = {}
    for scene_id in bridge.SCENES:
        things, row = scene_from(entry(scene_id)).things, tasks(scene_id)[0]
        nouns = {slot: things[name].nouns[0].text for slot, name in row["values"][0].items()}
        said[row["instruction_templates"][0]["text"].format(**nouns)] = row["max_steps"]
    assert said == {
        "put the spoon on the towel": 60,
        "put carrot on plate": 60,
        "stack the green block on the yellow block": 60,
        "put eggplant into yellow basket": 120,
    }


def tasks(scene_id: str) -> list[Row]:
    name = f"{scene_id}.yaml"
    return read_rows((FOLDER / "tasks" / name).read_text("utf-8"), name)


def fillings(values: Any) -> list[dict[str, str]]:
    if isinstance(values, list):
        return values
    return [dict(zip(values, names, strict=True)) for names in itertools.product(*values.values())]


def named(goal: Any, field: str) -> list[str]:
    """The values of a field anywhere in a goal."""
    if isinstance(goal, dict):
        own = [goal[field]] if isinstance(goal.get(field), str) else []
        return own + [name for part in goal.values() for name in named(part, field)]
    return [name for part in goal for name in named(part, field)] if isinstance(goal, list) else []
