"""Labels of demonstrations that tell what a picture alone does not: where a thing is to go, and which stage is due."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from simulation import catalogue
from simulation.aims import aim_of
from simulation.courses import TABLE, WIDOWX, Course
from simulation.demonstrator import Demonstrator, Frames, meaning_list, task_list, text_list
from simulation.environment import Environment
from simulation.expert import due
from simulation.paraphrases import paraphrases

SEED = 1_900_000


def demonstrations(scene_id: str, task_id: str, wanted: int = 2) -> list[Frames]:
    """Of one instruction each."""
    maker = Demonstrator(Course("one", "widowx", {scene_id: {task_id: 1.0}}))
    found = (maker.demonstrate(seed) for seed in range(SEED, SEED + 60))
    whole = (one for one in found if one is not None and len(np.unique(one["instruction"])) == 1)
    return [one for one, _ in zip(whole, range(wanted), strict=False)]


@pytest.mark.parametrize("task_id", ["push"])
def test_a_push_is_labelled_with_the_place_where_the_thing_comes_to_lie(task_id: str) -> None:
    for frames in demonstrations("table", task_id, 4):
        things, targets = frames["points"][:, 0], frames["points"][:, 1]
        assert np.linalg.norm(targets[:, :2] - targets[0, :2], axis=1).max() < 1e-6
        assert np.linalg.norm(targets[0, :2] - things[0, :2]) > 0.05
        assert np.linalg.norm(targets[-1, :2] - things[-1, :2]) < 0.02
        assert np.abs(frames["pixels"][0, 1] - frames["pixels"][0, 0]).max() > 0.02


def test_a_push_takes_a_few_frames() -> None:
    for frames in demonstrations("table", "push", 4):
        held = frames["held"]
        assert np.linalg.norm(frames["actions"][held, 0, :2], axis=1).max() < 0.0201


def test_a_swap_is_labelled_with_what_moves_and_where_to() -> None:
    (frames,) = demonstrations("table", "swap", 1)
    things, targets = frames["points"][:, 0], frames["points"][:, 1]
    jumps = np.linalg.norm(np.diff(things[:, :2], axis=0), axis=1) > 0.06
    assert 1 <= jumps.sum() <= 4  # more than a step moves a thing
    assert np.linalg.norm(things[-1, :2] - targets[-1, :2]) < 0.03
    assert np.linalg.norm(things[0, :2] - targets[0, :2]) > 0.04


@pytest.mark.parametrize(("apart", "moves"), [(0.05, "blue_cylinder"), (0.14, "red_cube")])
def test_between_is_labelled_with_the_thing_that_is_moved_next(apart: float, moves: str) -> None:
    environment = Environment("widowx", "table")
    environment.reset(SEED)
    for name, x, y in (("red_cube", 0.22, -0.15), ("green_sphere", 0.3, 0.0), ("blue_cylinder", 0.3, apart)):
        environment.move(name, x, y, 0.0)
    environment.move("yellow_cube", 0.4, -0.15, 0.0)
    goal = environment.set_task(("between", {"object": "red_cube", "one": "green_sphere", "other": "blue_cylinder"}))
    part = goal and due(environment, goal)
    assert part
    aim = aim_of(environment, part)
    assert aim.name == moves
    between = environment.view.position("green_sphere"), environment.view.position("blue_cylinder")
    from_line = np.linalg.norm(aim.target - np.mean(between, axis=0))
    assert (from_line < 0.05) == (moves == "red_cube")


def test_a_turn_ends_at_one_yaw_of_the_hand() -> None:
    ends = []
    for frames in demonstrations("table", "turn", 4):
        turned = frames["held"].nonzero()[0][-1]
        sine, cosine = frames["proprioception"][turned, 3:5]
        ends.append(np.degrees(np.arctan2(sine, cosine)))
    assert np.ptp(ends) < 20


@pytest.mark.parametrize(("scene_id", "task_id", "most"), [("cabinet", "close_drawer", 1), ("table", "pick", 0)])
def test_stages_are_counted_as_they_are_reached(scene_id: str, task_id: str, most: int) -> None:
    (frames,) = demonstrations(scene_id, task_id, 1)
    stages = frames["stage"].tolist()
    assert stages[0] == 0
    assert most in stages
    assert all(one <= other for one, other in pairwise(stages))


@pytest.mark.parametrize("course", [TABLE, WIDOWX], ids=str)
def test_every_trained_wording_tells_its_tasks_and_no_kept_out_one_does(course: Course) -> None:
    tasks, told = task_list(course), dict(zip(text_list(course), meaning_list(course), strict=True))
    said = catalogue.instructions(of=course.tasks())
    trained = {one.text for one in said if one.train}
    further = [text for task in tasks if course.paraphrased for text in paraphrases(*task)]
    assert {text for text, found in told.items() if found} == trained | {*further}
    for one in said[::97]:
        assert not one.train or (one.task_id, dict(one.slots)) in [tasks[number] for number in told[one.text]]
