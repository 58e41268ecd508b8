"""A scene with a drawer, a lid and a thing that can be carried is added as CONTRIBUTING says, without another edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import mujoco
import numpy as np
import pytest

from simulation import catalogue, worlds
from simulation.catalogue import Scene
from simulation.contracts import CameraSpec, Floats
from simulation.environment import Environment, StateMismatch
from simulation.variation import Variation
from simulation.worlds import widowx
from simulation.worlds.plugins import Look

XML = """
<mujoco model="chest">
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002" integrator="implicitfast" cone="elliptic" impratio="10"/>
  <visual><global offwidth="320" offheight="320"/></visual>
  <worldbody>
    <light pos="0.3 0 1" dir="0 0 -1" castshadow="true"/>
    <camera name="workspace" pos="0 -0.16 0.36" xyaxes="0.553 -1 0 1.085 0.6 1.305809" fovy="46"/>
    <geom type="box" pos="0.3 0 -0.02" size="0.4 0.4 0.02" contype="2" conaffinity="3"/>
    <body name="drawer" pos="0.4 0.15 0.03">
      <joint name="drawer" type="slide" axis="-1 0 0" range="0 0.1" frictionloss="1" damping="5"/>
      <geom type="box" size="0.05 0.05 0.02" mass="0.2" contype="0" conaffinity="1"/>
    </body>
    <body name="lid" pos="0.35 -0.15 0.05">
      <joint name="lid" type="hinge" axis="0 1 0" range="-1.5 0" frictionloss="0.3" damping="0.1"/>
      <geom type="box" pos="0.03 0 0" size="0.03 0.04 0.004" mass="0.02" contype="0" conaffinity="1"/>
    </body>
    <body name="peg"><freejoint name="peg"/>
      <geom type="box" size="0.01 0.01 0.02" mass="0.02" contype="2" conaffinity="3"/></body>
  </worldbody>
</mujoco>
"""
ALOFT = np.array([0.0, -0.2, 0.2, 0.0, 1.2, 0.0])


class Chest:
    id = "chest"
    VARIANTS = ("", "open")
    TARGETS = ("drawer",)
    LOOK = Look("look-chest-1", shadows=True)
    STARTS: Mapping[str, Floats] = {"widowx": ALOFT}

    def build(self, variant: str) -> mujoco.MjSpec:
        return mujoco.MjSpec.from_string(XML)

    def objects(self, variant: str) -> tuple[str, ...]:
        return ("peg",)

    def sample(self, rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
        pulled = 0.08 if variant == "open" else 0.0
        place = [rng.uniform(0.25, 0.35), rng.uniform(-0.05, 0.05), 0.02, 1.0, 0.0, 0.0, 0.0]
        return {"drawer": np.array([pulled]), "lid": rng.uniform(-0.5, -0.1, 1), "peg": np.array(place)}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    row = Scene(
        id="chest",
        name="Chest",
        description="A drawer, a lid and a peg.",
        robots=("widowx",),
        cameras=(CameraSpec("workspace", 320, 320),),
        things={},
        suggestions=(),
        free_suggestions=(),
    )
    known = catalogue.scenes()
    monkeypatch.setattr(catalogue, "scenes", lambda: (*known, row))
    monkeypatch.setitem(worlds.SCENES, "chest", Chest())
    yield
    worlds.forget_worlds()


def test_a_seed_sets_slides_hinges_and_free_things() -> None:
    environment = Environment("widowx", "chest")
    environment.reset(1)
    drawer, lid = (float(environment.data.joint(name).qpos[0]) for name in ("drawer", "lid"))
    assert drawer == pytest.approx(0.0, abs=1e-3)
    assert -0.55 < lid < -0.05
    assert environment.view.position("peg")[2] == pytest.approx(0.02, abs=1e-3)
    first = environment.reset(1)
    assert first.hash("", "") != environment.reset(2).hash("", "")


def test_a_variant_starts_otherwise_and_is_not_mixed_with_the_usual_one() -> None:
    opened = Environment("widowx", "chest", Variation(variant="open"))
    opened.reset(1)
    assert float(opened.data.joint("drawer").qpos[0]) == pytest.approx(0.08, abs=1e-3)
    with pytest.raises(StateMismatch, match="the variant '' is another scene than 'open'"):
        opened.set_variation(Variation())


def test_the_arm_starts_where_the_scene_wants_it() -> None:
    environment = Environment("widowx", "chest")
    tools = []
    for seed in range(5):
        environment.reset(seed)
        tools.append(environment.view.tool().copy())
    wanted, _ = environment.controller.arm.tool_pose(ALOFT)
    usual, _ = environment.controller.arm.tool_pose(widowx.START_ARM)
    assert np.abs(np.array(tools) - wanted).max() < 0.06
    assert np.linalg.norm(wanted - usual) > 0.05


def test_the_scene_brings_its_own_look(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = Environment("widowx", "chest")
    environment.reset(1)
    small = CameraSpec("workspace", 96, 96)
    shadowed = environment.picture(small).astype(int)
    monkeypatch.setattr(Chest, "LOOK", Look("look-chest-1"))
    assert np.abs(environment.picture(small) - shadowed).max() > 20
    monkeypatch.setattr(Chest, "LOOK", Look("look-chest-1", shadows=True))
    assert (
        np.abs(
            environment.picture(
                small,
            )
            - shadowed
        ).max()
        == 0
    )


def test_a_secret_varies_what_a_scene_without_a_table_shows() -> None:
    environment = Environment("widowx", "chest")
    environment.reset(1)
    small = CameraSpec("workspace", 96, 96)
    usual = environment.picture(small).astype(int)
    environment.set_variation(Variation(light_scale=0.5, table_scale=(0.5, 0.5, 0.5), colours={"red_cube": (1, 0, 0)}))
    assert environment.picture(small).mean() < usual.mean() - 5
