"""A composed scene with the cabinet: its drawers are asked for, opened and judged as those of the scene `cabinet`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simulation import additions, catalogue, composed
from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.composed import Composed
from simulation.contracts import Chunking, Limits
from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.runner import run_episode
from simulation.scene_check import check_text
from simulation.scene_plans import read_plan
from simulation.scene_tasks import tasks_of
from simulation.worlds import cabinet

TREASURES = """\
- id: treasures
  name: Treasures
  description: Two cubes and a cup beside the cabinet.
  room: cabinet
  things:
    red_cube: {}
    golden_cube: {like: red_cube, colour: [0.85, 0.65, 0.13], nouns: [{text: golden cube}]}
    cup: {}
    carrot: {}
  draws:
  - {of: [cup, carrot], count: 1}
"""


def read(text: str) -> Composed:
    return read_plan(read_rows(text, "scene")[0])


@pytest.fixture
def environment() -> Iterator[Environment]:
    made = read(TREASURES)
    with composed.trying(made), additions.trying(*tasks_of(made)):
        yield Environment("widowx", made.scene.id)


def test_the_check_finds_nothing_wrong_with_it() -> None:
    assert check_text(TREASURES, "scene", 2) == []


@pytest.mark.parametrize(
    ("instruction", "max_steps"),
    [
        ("open the bottom drawer", 60),
        ("open the top drawer and close it", 100),
        ("put the golden cube in the top drawer", 120),
        ("put the red cube in the bottom drawer and close it", 150),
        ("put the golden cube on the cabinet", 80),
    ],
)
def test_the_expert_does_its_tasks(environment: Environment, instruction: str, max_steps: int) -> None:
    reached = 0
    for seed in range(3):
        environment.reset(seed)
        expert, limits = ScriptedExpert(environment), Limits(max_steps=max_steps)
        result = run_episode(environment, expert, instruction, seed, (), limits, Chunking(execute=1), ())
        reached += bool(result.success)
    assert reached == 3


def test_its_drawers_are_closed_and_the_seed_moves_the_cabinet(environment: Environment) -> None:
    places = set()
    for seed in range(5):
        environment.reset(seed)
        view = environment.view
        assert all(abs(float(environment.data.joint(name).qpos[0])) < 1e-3 for name in cabinet.DRAWERS)
        places.add(tuple(view.position("cabinet")[:2].round(4)))
    assert len(places) == 5


def test_sentences_name_its_own_things(environment: Environment) -> None:
    assert catalogue.task_for("store the golden cube in the upper drawer", "treasures") == (
        "treasures_put_in_drawer",
        {"object": "golden_cube", "drawer": "top_drawer"},
    )
    assert catalogue.task_for("put the carrot in the top drawer", "treasures") is None


def test_nothing_may_have_its_place_where_the_drawers_open() -> None:
    blocked = TREASURES.replace("cup: {}", "cup: {at_m: [0.3, 0.12]}").replace("of: [cup, carrot]", "of: [carrot]")
    [fault] = check_text(blocked, "scene", 1)
    assert fault.startswith("scene:8: cup: overlaps cabinet; expected 18 mm between them")


def test_no_thing_may_be_called_as_a_drawer() -> None:
    with pytest.raises(CatalogueError, match="scene:8: top_drawer: the room has a part of this name"):
        read(TREASURES.replace("cup: {}", "top_drawer: {like: cup}"))
