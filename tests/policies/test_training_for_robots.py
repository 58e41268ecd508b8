"""A policy is of the robot of its demonstrations."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.base import MissingStatistics
from policies.embodiment import fitting
from policies.film.training import FilmPlan, FilmTrainer
from policies.film.warm_start import WarmStart
from policies.folder import STATISTICS, read_json, write_json
from policies.registry import describe
from policies.training.dataset import INDEX, Demonstrations
from policies.training.export import Naming
from simulation import catalogue
from tests.policies.tiny import write_demos

PLAN = FilmPlan(samples=16, batch=16, warm_up=1)


def demonstrations(folder: Path, robot_id: str) -> Demonstrations:
    write_demos(folder)
    told = catalogue.robot(robot_id)
    control = {"action_space": told.action_space, "rate_hz": told.control_hz, "proprioception": told.proprioception}
    write_json(folder / INDEX, read_json(folder, INDEX) | {"robot_id": robot_id, **control})
    return Demonstrations(folder)


@pytest.mark.parametrize("robot_id", ["widowx", "ur5e"])
def test_its_card_fits_the_worlds_of_that_robot_and_no_other(robot_id: str, tmp_path: Path) -> None:
    trainer = FilmTrainer(demonstrations(tmp_path / "demos", robot_id), PLAN, tmp_path / "run")
    trainer.run()
    trainer.export(Naming("tiny", "Tiny", ""), tmp_path / "tiny")
    worlds = [catalogue.embodiment(*world) for world in catalogue.worlds() if not catalogue.missing_assets(*world)]
    fitted = {world.robot_id for world in fitting(describe(tmp_path / "tiny").spec, worlds)}
    assert fitted == {robot_id}
    assert [*read_json(tmp_path / "tiny", STATISTICS)] == [f"arena_{robot_id}"]


def test_weights_of_another_robot_are_no_beginning(tmp_path: Path) -> None:
    theirs = FilmTrainer(demonstrations(tmp_path / "theirs", "widowx"), PLAN, tmp_path / "run")
    theirs.run()
    theirs.export(Naming("tiny", "Tiny", ""), tmp_path / "tiny")
    ours, start = demonstrations(tmp_path / "ours", "ur5e"), WarmStart.read(tmp_path / "tiny")
    with pytest.raises(MissingStatistics, match="'arena_ur5e' is missing; known: arena_widowx"):
        FilmTrainer(ours, PLAN, tmp_path / "other", start=start)
