"""Toy demonstrations and one policy folder trained on them, made once per run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from policies.film.training import FilmPlan, FilmTrainer
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import POLICY_CAMERA
from tests.policies.tiny import write_demos


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    return Demonstrations(write_demos(tmp_path_factory.mktemp("demos")))


@pytest.fixture(scope="session")
def _trained(tmp_path_factory: pytest.TempPathFactory, demos: Demonstrations) -> Path:
    base = tmp_path_factory.mktemp("trained")
    trainer = FilmTrainer(demos, FilmPlan(samples=3 * 16, batch=16, warm_up=2), base / "run", Pace(log_steps=1))
    trainer.run()
    trainer.export(Naming("film-toy", "Toy", "For tests."), base / "film-toy")
    return base / "film-toy"


@pytest.fixture(params=["torch", "without torch"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which a folder is played."""
    if request.param == "torch":
        monkeypatch.setattr("policies.exported.needs_torch", lambda *_: True)


@pytest.fixture
def folder(_trained: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(_trained, tmp_path / "film-toy"))


@pytest.fixture(scope="session")
def _picture_trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("pictures")
    demos = Demonstrations(write_demos(base / "demos", episodes=2, size=POLICY_CAMERA.height))
    trainer = FilmTrainer(demos, FilmPlan(samples=4, batch=4), base / "run", Pace())
    trainer.run()
    trainer.export(Naming("film-wide", "Wide", "For tests in the real scene."), base / "film-wide")
    return base / "film-wide"


@pytest.fixture
def picture_folder(_picture_trained: Path, tmp_path: Path) -> Path:
    """A copy of a hardly trained policy for pictures of the real camera's size."""
    return Path(shutil.copytree(_picture_trained, tmp_path / "film-wide"))
