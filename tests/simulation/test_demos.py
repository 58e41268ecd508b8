import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulation import catalogue
from simulation.courses import KITCHEN, TABLE, WAREHOUSE, Course
from simulation.demonstrator import Demonstrator, fields_of, text_list
from simulation.demos import DemonstrationError, write_dataset
from simulation.disturbance import Disturbance

SEED = 1_900_000


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demos") / "set"
    write_dataset(folder, episodes=6, seed=SEED, workers=1, resume=False)
    return folder


def test_a_data_set_describes_and_holds_its_frames(dataset: Path) -> None:
    index = json.loads((dataset / "dataset.json").read_text())
    shard = dataset / index["shards"][0]["name"]
    assert index["frames"] == index["shards"][0]["frames"] > 0
    assert index["kept"] >= 4
    assert (index["action_space"], index["rate_hz"], index["proprioception"]) == (
        "eef_delta_bridge7",
        5,
        "eef_pose_bridge8",
    )
    for name, (shape, dtype, _) in fields_of(TABLE).items():
        column = np.load(shard / f"{name}.npy", allow_pickle=False)
        assert column.shape == (index["frames"], *shape), name
        assert column.dtype == dtype, name
    actions = np.load(shard / "actions.npy")
    assert np.abs(actions[..., :3]).max() <= 0.0451
    assert set(np.unique(actions[..., 6])) == {0.0, 1.0}


def test_demonstrations_use_trained_wordings_alone(dataset: Path) -> None:
    index = json.loads((dataset / "dataset.json").read_text())
    used = np.unique(np.load(dataset / index["shards"][0]["name"] / "instruction.npy"))
    trained = {one.text for one in catalogue.instructions(train=True)}
    assert {index["texts"][number] for number in used} <= trained
    assert index["texts"] == text_list(TABLE)


def test_another_data_set_is_not_overwritten_and_resume_keeps_complete_shards(dataset: Path) -> None:
    with pytest.raises(DemonstrationError, match="--resume"):
        write_dataset(dataset, episodes=6, seed=SEED, workers=1, resume=False)
    written = (dataset / f"shard-{SEED:09d}" / "images.npy").stat().st_mtime_ns
    assert write_dataset(dataset, episodes=6, seed=SEED, workers=1, resume=True)["episodes"] == 6
    assert (dataset / f"shard-{SEED:09d}" / "images.npy").stat().st_mtime_ns == written


def test_a_seed_gives_the_same_demonstration_again() -> None:
    maker = Demonstrator(TABLE)
    first, _, again = maker.demonstrate(SEED), maker.demonstrate(SEED + 1), maker.demonstrate(SEED)
    assert first is not None
    assert again is not None
    assert all(np.array_equal(first[name], again[name]) for name in fields_of(TABLE))


@pytest.mark.parametrize("course", [WAREHOUSE, KITCHEN], ids=lambda course: course.id)
def test_other_robots_are_demonstrated_in_the_same_fields(course: Course) -> None:
    maker = Demonstrator(course)
    demonstrations = [frames for seed in range(SEED, SEED + 4) if (frames := maker.demonstrate(seed)) is not None]
    for frames in demonstrations:
        for name, (shape, dtype, _) in fields_of(course).items():
            assert frames[name].shape == (len(frames["task"]), *shape), name
            assert frames[name].dtype == dtype, name
        is_box = course is WAREHOUSE  # cartons look the same every half turn, handles have no such yaw
        assert np.linalg.norm(frames["yaw"], axis=1) == pytest.approx(float(is_box))
    assert any(frames["held"].any() for frames in demonstrations), "a door, a knob or the kettle is held, a switch not"


def test_chunks_stop_at_a_change_of_instruction() -> None:
    maker = Demonstrator(TABLE)
    found = (maker.demonstrate(seed) for seed in range(SEED, SEED + 40))
    frames = next(one for one in found if one is not None and len(np.unique(one["instruction"])) == 2)
    border = int(np.argmax(frames["instruction"] != frames["instruction"][0]))
    assert frames["mask"][border - 1].tolist() == [True, False, False, False]
    assert frames["mask"][border].all()


def test_labels_are_clean_where_execution_is_disturbed() -> None:
    disturb = Disturbance(np.random.default_rng(0), level=1.6)
    clean = np.array([0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    noisy = np.array([disturb(clean) for _ in range(200)])
    assert clean.tolist() == [0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert 0.006 < noisy[:, 1].std() < 0.03
    assert set(np.unique(noisy[:, 6])) == {0.0, 1.0}


def test_of_frames_that_are_further_apart_each_is_the_same_and_knows_all_actions_of_its_chunk() -> None:
    every, third = (Demonstrator(replace(WAREHOUSE, every=every)).demonstrate(SEED + 3) for every in (1, 3))
    assert every is not None
    assert third is not None
    assert np.unique(every["instruction"]).size == 1
    assert len(third["task"]) == (len(every["task"]) + 2) // 3
    for name in ("images", "actions", "mask", "proprioception", "pixels"):
        assert (third[name] == every[name][::3]).all(), name
    assert third["since"].tolist() == list(range(len(third["task"])))
