"""Scenes composed of known things: what YAML may say, what is refused by name and line, what a seed makes of it."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest

from simulation import additions, catalogue, composed
from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.composed import Composed
from simulation.contracts import Chunking, Limits
from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.runner import run_episode
from simulation.scene_check import check_text
from simulation.scene_plans import REACH, library, read_plan
from simulation.scene_tasks import families_of, tasks_of
from simulation.worlds import widowx
from simulation.worlds.things import THINGS
from tests.breakfast import BREAKFAST


def read(text: str) -> Composed:
    return read_plan(read_rows(text, "scene")[0])


@pytest.fixture
def breakfast() -> Iterator[Composed]:
    made = read(BREAKFAST)
    with composed.trying(made), additions.trying(*tasks_of(made)):
        yield made


@pytest.fixture
def environment(breakfast: Composed) -> Environment:
    return Environment("widowx", breakfast.scene.id)


def changed(old: str, new: str) -> str:
    assert old in BREAKFAST
    return BREAKFAST.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("carrot: {}", "turnip: {}", "scene:9: unknown thing 'turnip'; known: basket, blue_cylinder"),
        ("like: cup", "like: jug", "scene:7: unknown thing 'jug'; known: basket"),
        ("room: plates", "room: barn", "scene:4: unknown room 'barn'; known: bench, plates, cabinet"),
        ("carrot: {}", "carrot: {at_m: [0.6, 0]}", "scene:9: at_m: out of reach: expected x 0.18..0.42"),
        ("0.39, -0.15, 0.0]", "0.39, -0.15, 0.5]", "scene:8: area_m: out of reach"),
        ("0.39, -0.15, 0.0]", "0.39, 0.1, 0.0]", "scene:8: area_m: expected x lowest, x highest"),
        ("carrot: {}", "carrot: {at_cm: [30, 0]}", "scene:9: unknown field 'at_cm'; known: like, area_m, at_m"),
        ("carrot: {}", "carrot: {at_m: [0.3]}", "scene:9: at_m: expected 2 numbers"),
        ("carrot: {}", "carrot: {at_m: [.nan, 0]}", "scene:9: at_m: expected finite numbers"),
        ("carrot: {}", "carrot: {turned_deg: 30}", "scene:9: carrot: turned_deg goes with at_m"),
        ("carrot: {}", "left_plate: {like: plate}", "scene:9: left_plate: the room has a part of this name"),
        ("0.1, 0.25", "0.1, 25", "scene:7: colour: expected red, green and blue, each 0..1"),
        (", nouns: [{text: blue cup}]", "", "scene:7: blue_cup: a colour or a name of its own needs nouns"),
        ("most: 2", "most: 4", "scene:13: most: expected 1..3, got 4"),
        ("of: [carrot", "of: [leek", "scene:13: of: unknown thing 'leek'; the scene has bowl"),
        ("id: breakfast", "id: Break fast", "scene:1: id: expected at most 40 small letters"),
        ("  name: Breakfast table\n", "", "scene:1: name is missing"),
        ("  suggestions", "  tasks: [fly]\n  suggestions", "scene:14: tasks: unknown family 'fly'; known: pick, place"),
        ("  suggestions", "  tasks: [stack]\n  suggestions", "scene:14: tasks: nothing in this scene can be asked"),
    ],
)  # fmt: skip
def test_what_a_scene_cannot_be_is_refused_by_name_and_line(old: str, new: str, fault: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        tasks_of(read(changed(old, new)))
    assert str(refused.value).startswith(fault)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            "red_cube: {area_m: [0.2, 0.39, -0.15, 0.0]}",
            "red_cube: {at_m: [0.3, 0.0]}\n    white_cube: {at_m: [0.31, 0.0]}",
            "scene:9: white_cube: overlaps red_cube; expected 18 mm between them",
        ),
        ("spoon: {}", "spoon: {at_m: [0.41, 0.0]}", "scene:11: spoon: an end of it is out of reach"),
        (
            "carrot: {}",
            "towel: {at_m: [0.28, 0]}\n    carrot: {}\n    basket: {}\n    purple_block: {}\n    orange_block: {}",
            "scene:5: things: start 0 has no room",
        ),
        ("room: plates\n  things:", "room: bench\n  tasks: [touch]\n  things:", None),
    ],
)  # fmt: skip
def test_the_check_names_what_overlaps_or_finds_no_room(old: str, new: str, fault: str | None) -> None:
    found = check_text(changed(old, new), "scene", 1)
    assert (found == []) if fault is None else found[0].startswith(fault)


def test_a_wording_that_means_two_things_is_refused_where_the_things_stand() -> None:
    assert check_text(changed("text: blue cup", "text: bowl"), "scene", 1) == [
        'scene:5: "bowl" means both blue_cup and bowl'
    ]


def test_the_library_that_the_web_process_knows_is_that_of_the_simulation() -> None:
    assert set(library()) == set(THINGS)
    assert {name for name, thing in library().items() if thing.hollow} == {n for n, t in THINGS.items() if t.inside}


def test_what_may_be_asked_for_is_within_the_arms_workspace() -> None:
    (low_x, low_y, _), (high_x, high_y, _) = widowx.WORKSPACE
    assert low_x < REACH[0] < REACH[1] < high_x
    assert low_y < REACH[2] < REACH[3] < high_y


def test_the_same_seed_gives_the_same_start_and_another_seed_draws_other_things(environment: Environment) -> None:
    starts = {seed: environment.reset(seed) for seed in range(8)}
    absent = {seed: (environment.reset(seed), environment.absent)[1] for seed in starts}
    for seed, start in starts.items():
        assert np.array_equal(environment.reset(seed).qpos, start.qpos)
        assert 1 <= len(absent[seed]) <= 2
        assert set(absent[seed]) <= {"carrot", "eggplant", "spoon"}
    assert len(set(absent.values())) > 1


def test_things_start_where_the_plan_says_in_the_colour_that_it_gives(environment: Environment) -> None:
    for seed in range(8):
        environment.reset(seed)
        x, y, _ = environment.view.position("red_cube")
        assert 0.2 - 1e-3 < x < 0.39 + 1e-3
        assert -0.15 - 1e-3 < y < 1e-3
    assert environment.model.material("blue_cup").rgba[:3] == pytest.approx([0.1, 0.25, 0.78])


def test_what_has_a_place_of_its_own_stands_there_in_every_start() -> None:
    made = read(changed("carrot: {}", "carrot: {at_m: [0.24, 0.1], turned_deg: 90}").replace("[carrot, ", "["))
    with composed.trying(made):
        environment = Environment("widowx", made.scene.id)
        for seed in range(3):
            environment.reset(seed)
            assert environment.view.position("carrot")[:2] == pytest.approx([0.24, 0.1], abs=2e-3)
            assert abs(environment.view.rotation("carrot")[1, 0]) == pytest.approx(1.0, abs=0.01)


def test_its_tasks_are_those_of_the_room_about_its_things_and_the_expert_does_them(environment: Environment) -> None:
    scene_id = environment.world.scene_id
    assert catalogue.task_for("put the red cube in the bowl", scene_id) == (
        f"{scene_id}_put_in",
        {"object": "red_cube", "container": "bowl"},
    )
    assert catalogue.task_for("pick up the blue cup", scene_id) == (f"{scene_id}_pick", {"object": "blue_cup"})
    assert catalogue.task_for("pick up the cup", scene_id) is None, "the only cup here is called blue"
    for instruction in ("put the red cube in the bowl", "pick up the blue cup"):
        environment.reset(1)
        expert = ScriptedExpert(environment)
        result = run_episode(environment, expert, instruction, 1, (), Limits(max_steps=80), Chunking(execute=1), ())
        assert result.success, instruction


def test_a_scene_may_name_the_families_that_it_offers() -> None:
    made = read(changed("  suggestions", "  tasks: [pick, put_in]\n  suggestions"))
    with composed.trying(made):
        assert [each.task.id for each in tasks_of(made)] == ["breakfast_pick", "breakfast_put_in"]
        assert {"pick", "put_in"} < set(families_of(made))


def test_a_draft_is_known_only_while_it_is_tried(breakfast: Composed) -> None:
    assert catalogue.scene("breakfast").things["blue_cup"].nouns[0].text == "blue cup"
    assert ("widowx", "breakfast") in catalogue.worlds()
    assert not catalogue.is_offered("breakfast")


def test_without_a_draft_nothing_of_it_is_known() -> None:
    with pytest.raises(CatalogueError, match="unknown scene 'breakfast'"):
        catalogue.scene("breakfast")


def test_a_browsers_engine_gets_the_model_that_python_has(environment: Environment) -> None:
    world = environment.world
    model = mujoco.MjModel.from_xml_string(world.xml, dict(world.meshes))
    assert (model.nq, model.nbody) == (environment.model.nq, environment.model.nbody)
    assert len(world.xml) < 200_000
