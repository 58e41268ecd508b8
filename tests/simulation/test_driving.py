"""A policy drives parts of a demonstration; the labels stay the expert's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from simulation import demonstrator
from simulation.contracts import Chunking, Floats, Observation
from simulation.courses import Course
from simulation.demonstrator import Demonstrator, Frames
from simulation.demos import DemonstrationError, write_dataset
from simulation.driving import EXPERT_SPAN, POLICY_SPAN, Driver

SEED = 1_900_000
PLACES = Course("places", "widowx", {"table": {"place": 1.0}})


class Riser:
    """Goes straight up, whatever is asked, and notes what it saw."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.looks = 0

    def reset(self, instruction: str, seed: int) -> None:
        self.asked.append(instruction)

    def infer(self, observation: Observation) -> Floats:
        self.looks += 1
        assert observation.instruction == self.asked[-1]
        return np.array([[0.0, 0.0, 0.01, 0.0, 0.0, 0.0, 1.0]])

    def close(self) -> None:
        pass


def frames_of(driver: Driver | None) -> Iterator[Frames]:
    maker = Demonstrator(PLACES, driver)
    return (frames for seed in range(SEED, SEED + 6) if (frames := maker.demonstrate(seed)) is not None)


def test_a_driver_leads_to_states_that_the_expert_alone_does_not_reach_and_the_expert_labels_them() -> None:
    alone, driven = next(frames_of(None)), next(frames_of(Driver(Riser(), Chunking(), 1.0)))
    assert alone["episode"][0] == driven["episode"][0]
    assert len(driven["task"]) > len(alone["task"])
    assert driven["points"].shape[1:] == alone["points"].shape[1:]
    assert np.array_equal(driven["images"][0], alone["images"][0])
    assert np.array_equal(driven["actions"][0, 0], alone["actions"][0, 0])
    assert driven["actions"][: POLICY_SPAN[0], 0, 2].min() < 0  # it would go down all the while that the driver rises
    assert np.all(np.diff(driven["proprioception"][: POLICY_SPAN[0], 2]) >= 0)


def test_no_chunk_goes_on_after_a_step_that_the_driver_chose() -> None:
    frames = next(frames_of(Driver(Riser(), Chunking(), 1.0)))
    first = POLICY_SPAN[0]
    assert frames["mask"][:first, 0].all()
    assert not frames["mask"][:first, 1:].any()
    assert frames["mask"][:, 1].any(), f"the expert drives for {EXPERT_SPAN[0]} steps or more in between"


def test_a_driver_looks_at_every_step_and_is_told_of_a_new_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demonstrator, "SWITCH_SHARE", 1.0)
    riser = Riser()
    frames = next(frames_of(Driver(riser, Chunking(), 1.0)))
    assert len(riser.asked) == len(np.unique(frames["instruction"])) == 2
    assert riser.looks == len(frames["task"])


def test_a_share_of_the_demonstrations_is_the_experts_own() -> None:
    alone = {int(frames["episode"][0]): frames for frames in frames_of(None)}
    mixed = {int(frames["episode"][0]): frames for frames in frames_of(Driver(Riser(), Chunking(), 0.5))}
    same = [np.array_equal(alone[seed]["images"], mixed[seed]["images"]) for seed in alone.keys() & mixed.keys()]
    assert any(same)
    assert not all(same)


class OpenRiser:
    def __call__(self) -> Driver:
        return Driver(Riser(), Chunking(), 1.0)

    def __str__(self) -> str:
        return "riser drives"


def test_a_folder_is_not_continued_with_another_driver(tmp_path: Path) -> None:
    write_dataset(tmp_path / "set", episodes=1, seed=SEED, workers=1, resume=False, open_driver=OpenRiser())
    with pytest.raises(DemonstrationError, match="with the driver riser drives, not the expert alone"):
        write_dataset(tmp_path / "set", episodes=1, seed=SEED, workers=1, resume=True)
