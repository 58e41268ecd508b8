"""Courses: of which scenes and tasks a set of demonstrations is made, and how often it shows each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simulation import catalogue, optional_rows
from simulation.catalogue_tasks import Task
from simulation.contracts import POLICY_CAMERA, CameraSpec, SimulationError
from simulation.worlds import bridge

SCATTER = 0.02, 0.4
"""How far [m] along x and y, and how much [rad] about the vertical, a scattered thing lies from its start at most."""

Shares = Mapping[str, Mapping[str, float]]


class UnknownCourse(SimulationError, ValueError):
    """The name of no course."""


@dataclass(frozen=True)
class Course:
    """`shares`: scene -> task -> its share of all demonstrations, which add up to one. `whole_scene`: every frame also
    tells where all things are and what the expert would do for other instructions, which takes a single scene.
    `scattered`: scenes with a few fixed starts, whose things lie elsewhere in every demonstration, up to SCATTER away.
    `paraphrased`: training also says what the tasks' `understood` patterns allow (simulation.paraphrases).
    `camera`: what the pictures show. `every`: how many control steps apart the frames are that are shown. `varied`:
    camera, light and colours differ between demonstrations. `license`: of what is trained on the pictures.
    """

    id: str
    robot_id: str
    shares: Shares
    whole_scene: bool = False
    scattered: tuple[str, ...] = ()
    paraphrased: bool = False
    camera: CameraSpec = POLICY_CAMERA
    every: int = 1
    varied: bool = True
    license: str = "Apache-2.0"

    @property
    def scenes(self) -> tuple[str, ...]:
        return tuple(self.shares)

    def families(self, scene_id: str) -> dict[str, float]:
        """The tasks of a scene with their shares of its demonstrations."""
        shares = self.shares[scene_id]
        whole = sum(shares.values())
        return {name: share / whole for name, share in shares.items()}

    def tasks(self) -> Iterator[Task]:
        return (catalogue.task(name) for shares in self.shares.values() for name in shares)


TABLE = Course("table", "widowx", {"table": {"pick": 0.25, "place": 0.35, "stack": 0.40}}, whole_scene=True)
WIDOWX = Course(
    "widowx",
    "widowx",
    {
        "table": {
            "pick": 0.01,
            "place": 0.015,
            "stack": 0.02,
            "push": 0.015,
            "next_to": 0.03,
            "between": 0.05,
            "swap": 0.03,
            "touch": 0.004,
            "knock_over": 0.02,
            "turn": 0.016,
            "gather_cubes": 0.01,
        },
        "workbench": {
            "workbench_pick": 0.02,
            "workbench_place": 0.015,
            "workbench_stack": 0.015,
            "workbench_push": 0.015,
            "workbench_next_to": 0.055,
            "workbench_between": 0.15,
            "workbench_swap": 0.06,
            "workbench_touch": 0.006,
            "workbench_knock_over": 0.03,
            "workbench_stand_up": 0.12,
            "workbench_turn": 0.02,
            "workbench_gather": 0.015,
            "workbench_put_in": 0.02,
            "workbench_take_out": 0.11,
        },
        "cabinet": {
            "open_drawer": 0.01,
            "close_drawer": 0.015,
            "put_in_drawer": 0.01,
            "put_away": 0.012,
            "put_on_cabinet": 0.012,
        },
        "bridge_spoon": {"bridge_spoon": 0.0175},
        "bridge_carrot": {"bridge_carrot": 0.0175},
        "bridge_cubes": {"bridge_cubes": 0.0175},
        "bridge_eggplant": {"bridge_eggplant": 0.0175},
    },
    scattered=tuple(bridge.SCENES),
    paraphrased=True,
)
WAREHOUSE = Course(
    "warehouse",
    "ur5e",
    {"warehouse": {"warehouse_pick": 0.2, "warehouse_bin": 0.3, "warehouse_shelf": 0.3, "warehouse_sort": 0.2}},
)
KITCHEN = Course(
    "kitchen",
    "franka",
    {
        "kitchen": {
            "kitchen_microwave": 0.13,
            "kitchen_slide": 0.05,
            "kitchen_hinge": 0.08,
            "kitchen_light": 0.11,
            "kitchen_burner": 0.26,
            "kitchen_kettle": 0.24,
            "kitchen_light_slide": 0.03,
            "kitchen_microwave_kettle": 0.04,
            "kitchen_burner_light": 0.03,
            "kitchen_cabinets": 0.03,
        }
    },
)
LIBERO_SHOWN = {"object": range(10), "spatial": range(10), "goal": (1, 2, 4, 6, 8, 9)}
"""Of the suites' tasks, those in which a thing is put somewhere."""
LIBERO_TASKS = tuple(f"libero_{suite}_{number}" for suite, numbers in LIBERO_SHOWN.items() for number in numbers)
LIBERO = Course(
    "libero",
    "panda",
    {task: {task: 1 / len(LIBERO_TASKS)} for task in LIBERO_TASKS},
    camera=CameraSpec("agentview", POLICY_CAMERA.height, POLICY_CAMERA.width),
    every=3,
    varied=False,
    license="CC-BY-NC-SA-4.0",
)
"""Needs `make libero`. The license is that of the groceries in the pictures."""
OPTIONAL: tuple[Course, ...] = (LIBERO,) if optional_rows.is_installed() else ()
COURSES: dict[str, Course] = {course.id: course for course in (TABLE, WIDOWX, WAREHOUSE, KITCHEN, *OPTIONAL)}


def course_named(name: str) -> Course:
    """Raises UnknownCourse, which lists the known ones."""
    if name not in COURSES:
        raise UnknownCourse(f"unknown course {name!r}; known: {', '.join(COURSES)}{optional_rows.hint(name)}")
    return COURSES[name]
