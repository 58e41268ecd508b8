"""Every predicate met, nearly met and not met, on the table and in a small world with a drawer, a mug and a knob."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from simulation.catalogue_rows import CatalogueError
from simulation.environment import Environment
from simulation.goals import Goal, Hand, View
from simulation.goals.reading import PREDICATES, read_goal
from tests.simulation.test_goals import put

KITCHEN = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 0.1"/>
    <body name="mug" pos="0 0 0"><freejoint/>
      <geom type="cylinder" size="0.04 0.003" pos="0 0 0.003"/>
      <geom type="box" size="0.003 0.04 0.04" pos="0.04 0 0.04"/>
      <geom type="box" size="0.003 0.04 0.04" pos="-0.04 0 0.04"/>
      <geom type="box" size="0.04 0.003 0.04" pos="0 0.04 0.04"/>
      <geom type="box" size="0.04 0.003 0.04" pos="0 -0.04 0.04"/>
      <body name="handle" pos="0.06 0 0.04"><geom type="capsule" size="0.006 0.02"/></body>
    </body>
    <body name="pea" pos="0 0 0.02"><freejoint/><geom type="sphere" size="0.01"/></body>
    <body name="cabinet" pos="1 0 0">
      <geom type="box" size="0.1 0.1 0.01" pos="0 0 0.3"/>
      <body name="drawer" pos="0 0 0.1"><joint name="drawer" type="slide" axis="-1 0 0" range="0 0.2"/>
        <geom type="box" size="0.08 0.08 0.005"/>
        <site name="in_drawer" type="box" size="0.08 0.08 0.05" pos="0 0 0.05"/>
      </body>
      <body name="knob" pos="0 0 0.35"><joint name="knob" axis="0 0 1" range="0 1.5"/>
        <geom type="box" size="0.03 0.01 0.01"/></body>
    </body>
    <body name="hand" pos="0 0 0.5"><site name="tool"/>
      <geom name="left_pad" type="box" size="0.005 0.005 0.01" pos="0 0.02 0"/>
      <geom name="right_pad" type="box" size="0.005 0.005 0.01" pos="0 -0.02 0"/>
    </body>
    <site name="round" type="cylinder" size="0.1 0.05" pos="0 0 0.05"/>
    <site name="ball" type="sphere" size="0.1" pos="0 0 0.05"/>
    <site name="egg" type="ellipsoid" size="0.1 0.05 0.05" pos="0 0 0.05"/>
  </worldbody>
</mujoco>
"""


class Kitchen:
    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(KITCHEN)
        self.data = mujoco.MjData(self.model)
        self.view = View(self.model, self.data, Hand("tool", ("left_pad", "right_pad")))

    def place(self, name: str, *pose: float) -> None:
        """x, y, z of a free body, or the position of a joint; brings everything up to date."""
        joint = int(self.model.body(name).jntadr[0])
        first = int(self.model.jnt_qposadr[joint])
        self.data.qpos[first : first + len(pose)] = pose
        mujoco.mj_forward(self.model, self.data)


@pytest.fixture
def kitchen() -> Kitchen:
    kitchen = Kitchen()
    mujoco.mj_forward(kitchen.model, kitchen.data)
    return kitchen


def goal(**row: Any) -> Goal:
    return read_goal({"goal": row}, {}, {})


def begun(view: View, **row: Any) -> Goal:
    found = goal(**row)
    found.begin(view)
    return found


def middle(environment: Environment, name: str) -> tuple[float, float]:
    x, y, _ = environment.view.position(name)
    return float(x), float(y)


def lift(environment: Environment, name: str, z: float) -> None:
    """Hold a thing over where it is, for as long as physics stands still [m]."""
    environment.data.qpos[int(environment.model.joint(name).qposadr[0]) + 2] = z
    environment.restore(environment.state())


def test_on_needs_contact_height_and_nearness(environment: Environment) -> None:
    on = goal(on={"thing": "red_cube", "support": "left_plate", "within_m": 0.03})
    assert not on.judge(environment.view).success
    x, y = middle(environment, "left_plate")
    put(environment, "red_cube", x + 0.02, y, 0.0235)
    assert on.judge(environment.view).success
    put(environment, "red_cube", x + 0.04, y, 0.0235)
    near = on.judge(environment.view)
    assert not near.success
    assert 0.8 < near.progress < 1.0
    put(environment, "red_cube", x, y, 0.0235)
    lift(environment, "red_cube", 0.1)
    assert not on.judge(environment.view).success


def test_moved_is_measured_from_the_beginning_of_the_turn(environment: Environment) -> None:
    x, y = middle(environment, "red_cube")
    left = begun(environment.view, moved={"thing": "red_cube", "direction": "left", "by_m": 0.05})
    assert left.judge(environment.view).progress == 0.0
    put(environment, "red_cube", x, y + 0.03, 0.0165)
    assert left.judge(environment.view).progress == pytest.approx(0.6, abs=0.02)
    put(environment, "red_cube", x + 0.02, y + 0.055, 0.0165)
    assert left.judge(environment.view).success
    put(environment, "red_cube", x + 0.08, y + 0.055, 0.0165)
    assert not left.judge(environment.view).success, "it went further aside than to the left"
    again = begun(environment.view, moved={"thing": "red_cube", "direction": "left"})
    assert not again.judge(environment.view).success, "a new turn begins where the last one ended"


@pytest.mark.parametrize(
    ("direction", "dx", "dy"),
    [("left", 0, 1), ("right", 0, -1), ("forward", 1, 0), ("back", -1, 0), ("any", 0.6, -0.8)],
)
def test_left_is_plus_y_and_forward_is_plus_x(environment: Environment, direction: str, dx: float, dy: float) -> None:
    x, y = middle(environment, "green_sphere")
    others = {"left", "right", "forward", "back"} - {direction}
    goals = {
        each: begun(environment.view, moved={"thing": "green_sphere", "direction": each})
        for each in (direction, *others)
    }
    first = int(environment.model.joint("green_sphere").qposadr[0])
    environment.data.qpos[first : first + 2] = x + 0.06 * dx, y + 0.06 * dy
    environment.restore(environment.state())
    assert goals[direction].judge(environment.view).success
    assert direction == "any" or not any(goals[each].judge(environment.view).success for each in others)


@pytest.mark.parametrize(
    ("turned", "way", "success"),
    [(35, "left", True), (35, "right", False), (-35, "either", True), (20, "left", False), (-170, "right", True)],
)
def test_turned_is_an_angle_about_z_since_the_beginning(
    environment: Environment, turned: float, way: str, success: bool
) -> None:
    found = begun(environment.view, turned={"thing": "red_cube", "by_deg": 30, "way": way})
    first = int(environment.model.joint("red_cube").qposadr[0]) + 3
    yaw = environment.view.yaw("red_cube") + np.deg2rad(turned)
    environment.data.qpos[first : first + 4] = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
    environment.restore(environment.state())
    assert found.judge(environment.view).success is success


def test_swapped_things_stand_where_the_other_stood(environment: Environment) -> None:
    red, green = middle(environment, "red_cube"), middle(environment, "green_sphere")
    swapped = begun(environment.view, swapped={"one": "red_cube", "other": "green_sphere", "within_m": 0.03})
    before = swapped.judge(environment.view)
    assert not before.success
    put(environment, "green_sphere", 0.45, 0.0, 0.0175)
    put(environment, "red_cube", *green, 0.0165)
    half = swapped.judge(environment.view)
    assert (half.success, half.progress > before.progress) == (False, True)
    put(environment, "green_sphere", *red, 0.0175)
    assert swapped.judge(environment.view).success


def test_next_to_between_and_sides(environment: Environment) -> None:
    put(environment, "yellow_cube", 0.30, 0.0, 0.0165)
    put(environment, "green_sphere", 0.22, 0.0, 0.0175)
    put(environment, "blue_cylinder", 0.40, -0.08, 0.02)
    put(environment, "red_cube", 0.30, 0.045, 0.0165)
    view = environment.view
    assert goal(next_to={"thing": "red_cube", "other": "yellow_cube", "within_m": 0.02}).judge(view).success
    assert not goal(next_to={"thing": "red_cube", "other": "green_sphere", "within_m": 0.02}).judge(view).success
    assert goal(left_of={"thing": "red_cube", "other": "yellow_cube"}).judge(view).success
    assert not goal(right_of={"thing": "red_cube", "other": "yellow_cube"}).judge(view).success
    between = goal(between={"thing": "yellow_cube", "one": "green_sphere", "other": "blue_cylinder"})
    assert not between.judge(view).success, "it is 4 cm beside the line"
    put(environment, "blue_cylinder", 0.38, 0.0, 0.02)
    assert between.judge(view).success
    put(environment, "yellow_cube", 0.26, 0.04, 0.0165)
    assert not between.judge(view).success
    put(environment, "red_cube", *middle(environment, "yellow_cube"), 0.0497)
    assert not goal(next_to={"thing": "red_cube", "other": "yellow_cube"}).judge(view).success, "it is on top"


def test_a_cylinder_that_lies_is_tipped_and_not_upright(environment: Environment) -> None:
    tipped, upright = goal(tipped="blue_cylinder"), goal(upright="blue_cylinder")
    assert (tipped.judge(environment.view).success, upright.judge(environment.view).success) == (False, True)
    first = int(environment.model.joint("blue_cylinder").qposadr[0]) + 3
    for lean, outcome in ((30, (False, False)), (90, (True, False))):
        half = np.deg2rad(lean) / 2
        environment.data.qpos[first : first + 4] = np.cos(half), np.sin(half), 0.0, 0.0
        environment.restore(environment.state())
        assert (tipped.judge(environment.view).success, upright.judge(environment.view).success) == outcome
        assert tipped.judge(environment.view).progress == pytest.approx(min(1.0, lean / 60))


def test_touching_takes_any_part_of_the_gripper_or_another_thing(environment: Environment) -> None:
    touching = goal(touching="red_cube")
    far = touching.judge(environment.view)
    assert (far.success, far.progress < 0.5) == (False, True)
    first = int(environment.model.joint("red_cube").qposadr[0])
    environment.data.qpos[first : first + 3] = environment.data.geom("w/left_pad").xpos + np.array([0.0, 0.015, 0.0])
    mujoco.mj_forward(environment.model, environment.data)
    assert environment.view.pads_touching("red_cube") == 1
    assert touching.judge(environment.view).success
    put(environment, "yellow_cube", 0.30, 0.0, 0.0165)
    put(environment, "red_cube", 0.30, 0.0, 0.0497)
    assert goal(touching={"thing": "red_cube", "other": "yellow_cube"}).judge(environment.view).success
    assert not goal(touching={"thing": "red_cube", "other": "green_sphere"}).judge(environment.view).success


def test_a_thing_of_many_parts_touches_with_each_of_them_and_has_the_box_around_them(kitchen: Kitchen) -> None:
    kitchen.place("pea", 0.071, 0.0, 0.04)  # at the handle, a body of its own
    assert goal(touching={"thing": "mug", "other": "pea"}).judge(kitchen.view).success
    assert kitchen.view.touching("pea", "mug")
    assert kitchen.view.rest_height("mug") == pytest.approx(0.0, abs=1e-9)
    assert kitchen.view.top("mug") == pytest.approx(0.08)


@pytest.mark.parametrize(
    ("x", "z", "success"), [(0.0, 0.03, True), (0.03, 0.07, True), (0.06, 0.03, False), (0.0, 0.1, False)]
)
def test_in_a_mug_is_within_its_walls_and_under_its_rim(kitchen: Kitchen, x: float, z: float, success: bool) -> None:
    kitchen.place("pea", x, 0.0, z)
    assert goal(**{"in": {"thing": "pea", "container": "mug"}}).judge(kitchen.view).success is success
    kitchen.place("mug", 0.3, 0.0, 0.0)
    assert not goal(**{"in": {"thing": "pea", "container": "mug"}}).judge(kitchen.view).success


def test_a_region_moves_with_its_drawer(kitchen: Kitchen) -> None:
    inside = goal(inside={"thing": "pea", "region": "in_drawer"})
    kitchen.place("pea", 0.85, 0.0, 0.12)
    nearly = inside.judge(kitchen.view)
    assert (nearly.success, nearly.progress > 0.7) == (False, True)
    kitchen.place("drawer", 0.15)
    assert inside.judge(kitchen.view).success


@pytest.mark.parametrize(("region", "edge"), [("round", 0.1), ("ball", 0.1), ("egg", 0.1)])
def test_regions_have_the_shape_of_their_site(kitchen: Kitchen, region: str, edge: float) -> None:
    inside = goal(inside={"thing": "pea", "region": region})
    kitchen.place("pea", edge - 0.001, 0.0, 0.05)
    assert inside.judge(kitchen.view).success
    kitchen.place("pea", edge + 0.01, 0.0, 0.05)
    assert not inside.judge(kitchen.view).success
    kitchen.place("pea", 0.09, 0.09, 0.05)
    assert not inside.judge(kitchen.view).success


@pytest.mark.parametrize(("at", "opened", "closed"), [(0.0, False, True), (0.1, False, False), (0.15, True, False)])
def test_drawers_are_open_or_closed_by_their_share_of_the_range(
    kitchen: Kitchen, at: float, opened: bool, closed: bool
) -> None:
    kitchen.place("drawer", at)
    assert goal(open={"joint": "drawer", "share": 0.7}).judge(kitchen.view).success is opened
    assert goal(closed="drawer").judge(kitchen.view).success is closed
    assert goal(closed={"joint": "drawer", "closed": "high", "share": 0.3}).judge(kitchen.view).success is opened


def test_a_knob_is_turned_on_past_half_of_its_way(kitchen: Kitchen) -> None:
    on = goal(turned_on="knob")
    kitchen.place("knob", 0.6)
    assert on.judge(kitchen.view).progress == pytest.approx(0.8)
    kitchen.place("knob", 0.8)
    assert on.judge(kitchen.view).success


def test_free_bodies_slides_and_hinges_rest_or_move(kitchen: Kitchen) -> None:
    for name in ("pea", "drawer", "knob", "cabinet"):
        rests = goal(at_rest=name)
        assert rests.judge(kitchen.view).success
        if name != "cabinet":
            kitchen.data.qvel[kitchen.model.body_dofadr[kitchen.model.body(name).id]] = 0.2
            assert not rests.judge(kitchen.view).success


def test_held_things_are_not_released(kitchen: Kitchen) -> None:
    released = goal(released="pea")
    assert released.judge(kitchen.view).success
    kitchen.place("pea", 0.0, 0.011, 0.5)
    held = released.judge(kitchen.view)
    assert (held.success, held.progress) == (False, 0.5)


def test_joins_take_their_progress_from_their_goals(kitchen: Kitchen) -> None:
    half, whole = {"open": {"joint": "drawer", "share": 1.0}}, {"closed": "knob"}
    kitchen.place("drawer", 0.1)
    assert goal(all=[half, whole]).judge(kitchen.view).progress == pytest.approx(0.75)
    assert goal(all=[half, {"released": "pea"}, {"at_rest": "pea"}]).judge(kitchen.view).progress == pytest.approx(0.5)
    assert goal(any=[half, whole]).judge(kitchen.view).success
    assert not goal(**{"not": whole}).judge(kitchen.view).success
    assert goal(**{"not": half}).judge(kitchen.view).success


def test_stages_are_reached_in_their_order_and_stay_reached(kitchen: Kitchen) -> None:
    stages: Any = begun(kitchen.view, stages=[{"open": "drawer"}, {"turned_on": "knob"}, {"closed": "drawer"}])
    assert stages.stages(kitchen.view) == (0.0, 0.0, 0.0)
    kitchen.place("knob", 1.0)
    assert stages.judge(kitchen.view).progress == 0.0, "the second stage does not count before the first"
    kitchen.place("knob", 0.0)
    kitchen.place("drawer", 0.07)
    assert stages.judge(kitchen.view).progress == pytest.approx(0.5 / 3)
    kitchen.place("drawer", 0.2)
    assert stages.judge(kitchen.view).progress == pytest.approx(1 / 3)
    kitchen.place("drawer", 0.0)
    assert stages.stages(kitchen.view) == (1.0, 0.0, 0.0)
    kitchen.place("knob", 1.0)
    assert stages.judge(kitchen.view).success, "the third stage is judged from the same instant"
    kitchen.place("knob", 0.0)
    assert stages.judge(kitchen.view).success, "the second stage stays reached"
    stages.begin(kitchen.view)
    assert not stages.judge(kitchen.view).success


def test_the_last_stage_counts_only_while_it_is_reached(kitchen: Kitchen) -> None:
    stages: Any = begun(kitchen.view, stages=[{"open": "drawer"}, {"turned_on": "knob"}])
    kitchen.place("drawer", 0.2)
    kitchen.place("knob", 1.0)
    assert stages.judge(kitchen.view).success
    assert stages.reached(kitchen.view) == 1
    kitchen.place("knob", 0.0)
    assert not stages.judge(kitchen.view).success
    assert stages.judge(kitchen.view).progress == pytest.approx(0.5)
    assert stages.stages(kitchen.view) == (1.0, 0.0)


@pytest.mark.parametrize("name", PREDICATES)
def test_every_predicate_has_progress_between_nothing_and_all_wherever_things_are(
    environment: Environment, name: str
) -> None:
    names = {
        "thing": "red_cube",
        "support": "left_plate",
        "base": "yellow_cube",
        "other": "green_sphere",
        "one": "blue_cylinder",
    }
    more = {"container": "left_plate", "region": "w/tool", "joint": "left_plate_x", "direction": "forward"}
    more |= {"value": 0.01}  # type: ignore[dict-item]
    wanted = [field for field in PREDICATES[name].__dataclass_fields__ if field in (names | more)]
    for seed in range(4):
        environment.reset(seed)
        found = begun(environment.view, **{name: {field: (names | more)[field] for field in wanted}})
        judged = found.judge(environment.view)
        assert 0.0 <= judged.progress <= 1.0
        assert judged.success == (judged.progress == 1.0)


def test_what_a_world_does_not_have_is_said(kitchen: Kitchen) -> None:
    with pytest.raises(CatalogueError, match="this world has no body 'teapot'"):
        goal(upright="teapot").judge(kitchen.view)
    with pytest.raises(CatalogueError, match="this world has no joint 'lid'"):
        goal(open="lid").judge(kitchen.view)


def test_resting_over_needs_contact_and_three_centimetres(environment: Environment) -> None:
    over = goal(rests_over={"thing": "red_cube", "support": "left_plate"})
    assert not over.judge(environment.view).success
    x, y = middle(environment, "left_plate")
    put(environment, "red_cube", x + 0.025, y, 0.0235)
    assert over.judge(environment.view).success
    put(environment, "red_cube", x + 0.035, y, 0.0235)
    assert not over.judge(environment.view).success
    put(environment, "red_cube", x, y, 0.0235)
    lift(environment, "red_cube", 0.1)
    assert not over.judge(environment.view).success, "it does not touch"


def test_a_region_reaches_a_centimetre_further_down_for_what_is_within_it(kitchen: Kitchen) -> None:
    within = goal(within_region={"thing": "pea", "region": "in_drawer"})
    for height, inside in ((0.15, True), (0.095, True), (0.085, False), (0.205, False)):
        kitchen.place("pea", 1.0, 0.0, height, 1.0, 0.0, 0.0, 0.0)
        assert within.judge(kitchen.view).success is inside, height
    kitchen.place("drawer", 0.1)
    kitchen.place("pea", 1.0, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0)
    judged = within.judge(kitchen.view)
    assert not judged.success, "the region moved with its drawer"
    assert 0.8 < judged.progress < 0.9


def test_over_a_region_is_up_to_ten_centimetres_over_its_upper_side(kitchen: Kitchen) -> None:
    over = goal(over_region={"thing": "pea", "region": "in_drawer"})
    for height, reached in ((0.197, True), (0.19, False), (0.29, True), (0.31, False)):
        kitchen.place("pea", 1.05, 0.0, height, 1.0, 0.0, 0.0, 0.0)
        assert over.judge(kitchen.view).success is reached, height
    kitchen.place("pea", 1.05, 0.0, 0.25, 1.0, 0.0, 0.0, 0.0)
    assert not goal(over_region={"thing": "pea", "region": "in_drawer", "of": "drawer"}).judge(kitchen.view).success


def test_a_joint_is_past_a_value_on_the_side_that_is_named(kitchen: Kitchen) -> None:
    kitchen.place("drawer", 0.12)
    assert goal(past={"joint": "drawer", "value": 0.1}).judge(kitchen.view).success
    assert not goal(past={"joint": "drawer", "value": 0.1, "side": "below"}).judge(kitchen.view).success
    assert goal(past={"joint": "drawer", "value": 0.13, "side": "below"}).judge(kitchen.view).success
    with pytest.raises(CatalogueError, match=r"past.value: expected a number, -10..10, got int 11"):
        goal(past={"joint": "drawer", "value": 11})
