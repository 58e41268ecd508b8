"""Courses: what demonstrations show, in which scenes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulation import catalogue
from simulation.courses import COURSES, SCATTER, TABLE, WIDOWX, Course, UnknownCourse, course_named
from simulation.demonstrator import FIELDS, Demonstrator, Frames, fields_of, task_list, text_list
from simulation.demos import DemonstrationError, write_dataset
from simulation.environment import Environment

SEED = 1_900_000


def demonstrations(course: Course, count: int) -> list[Frames]:
    maker = Demonstrator(course)
    found = (maker.demonstrate(seed) for seed in range(SEED, SEED + count))
    return [frames for frames in found if frames is not None]


def only(scene_id: str, task_id: str) -> Course:
    return Course("one", "widowx", {scene_id: {task_id: 1.0}})


@pytest.mark.parametrize("course", COURSES.values(), ids=str)
def test_the_shares_of_a_course_are_of_tasks_of_its_scenes_and_add_up_to_one(course: Course) -> None:
    assert sum(sum(shares.values()) for shares in course.shares.values()) == pytest.approx(1.0)
    for scene_id, shares in course.shares.items():
        assert all(catalogue.task(name).scene_id == scene_id for name in shares)
        assert catalogue.task(next(iter(shares))).robot_id == course.robot_id


def test_the_course_of_all_worlds_shows_every_family_that_visitors_are_offered() -> None:
    shown = {task.id for task in WIDOWX.tasks()}
    assert {task.id for task in catalogue.tasks() if task.robot_id == "widowx" and task.suggested} <= shown


def test_an_unknown_course_is_refused_with_the_known_ones() -> None:
    assert course_named("table") is TABLE
    with pytest.raises(UnknownCourse, match="'chairs'; known: table, widowx"):
        course_named("chairs")


def test_demonstrations_of_a_scene_with_fixed_starts_begin_elsewhere() -> None:
    """So that its 24 starts, which `evaluate --suite bridge` plays, stay unseen."""
    scene_id = "bridge_spoon"
    scattered = Course("one", "widowx", {scene_id: {scene_id: 1.0}}, scattered=WIDOWX.scattered)
    shown, published = demonstrations(scattered, 3), demonstrations(only(scene_id, scene_id), 3)
    for ours, theirs in zip(shown, published, strict=True):
        apart = np.abs(ours["points"][0, :, :2] - theirs["points"][0, :, :2]).max()
        assert 0.001 < apart <= SCATTER[0] + 0.005


@pytest.mark.parametrize("task_id", ["workbench_place", "workbench_push", "workbench_put_in", "workbench_gather"])
def test_the_workbench_is_only_asked_for_what_is_there(task_id: str) -> None:
    course = only("workbench", task_id)
    bench, tasks = Environment("widowx", "workbench"), task_list(course)
    found = demonstrations(course, 6)
    assert len(found) >= 3
    for frames in found:
        bench.reset(int(frames["episode"][0]))
        asked = {name for number in np.unique(frames["task"]) for name in tasks[number][1].values()}
        assert asked.isdisjoint(bench.left_out())


def test_labels_point_at_the_part_of_the_goal_that_is_due() -> None:
    """Both things are put on a plate one after the other: the labelled thing changes, its target does not."""
    course = only("workbench", "workbench_gather")
    frames = next(one for one in demonstrations(course, 12) if len(np.unique(one["instruction"])) == 1)
    things, targets = frames["points"][:, 0], frames["points"][:, 1]
    jumps = np.linalg.norm(np.diff(things[:, :2], axis=0), axis=1) > 0.06
    assert jumps.any()
    assert np.linalg.norm(targets - targets[0], axis=1).max() < 0.02


def test_a_drawer_is_labelled_by_its_handle_which_the_hand_takes() -> None:
    found = demonstrations(only("cabinet", "open_drawer"), 8)
    held, tool, points = (np.concatenate([one[name] for one in found]) for name in ("held", "proprioception", "points"))
    assert held.any()
    assert np.linalg.norm(points[held, 0] - tool[held, :3], axis=1).max() < 0.03
    assert not any(one["yaw"].any() for one in found)


def test_the_expert_opens_a_drawer_with_a_shaken_hand() -> None:
    assert len(demonstrations(only("cabinet", "open_drawer"), 12)) >= 9


def test_frames_count_from_the_first_of_their_instruction() -> None:
    found = demonstrations(TABLE, 40)
    frames = next(one for one in found if len(np.unique(one["instruction"])) == 2)
    border = int(np.argmax(frames["instruction"] != frames["instruction"][0]))
    count = len(frames["since"])
    assert frames["since"].tolist() == [*range(border), *range(count - border)]


def test_a_data_set_of_several_scenes_tells_them_and_cannot_be_resumed_with_another_course(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    write_dataset(folder, episodes=6, seed=SEED, workers=1, resume=False, course=WIDOWX)
    index = json.loads((folder / "dataset.json").read_text())
    assert set(index["scenes"]) == set(WIDOWX.scenes)
    assert index["course"] == "widowx"
    assert index["texts"] == text_list(WIDOWX)
    assert set(index["fields"]) == set(fields_of(WIDOWX)) == set(FIELDS)
    with pytest.raises(DemonstrationError, match="begun with the course widowx, not table"):
        write_dataset(folder, episodes=6, seed=SEED, workers=1, resume=True)
