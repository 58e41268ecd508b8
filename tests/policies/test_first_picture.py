"""Networks that also see the picture with which the turn began."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.base import BadCard
from policies.film.training import FilmPlan, FilmTrainer
from policies.folder import CARD, read_json, write_json, write_sums
from policies.networks.film import patches
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.tiny import SIZE, STEPS

PLAN = FilmPlan(samples=32, batch=16, warm_up=2, pictures=2)
TEXT = "lift the red cube"


@pytest.fixture(scope="module")
def trained(demos: Demonstrations, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    trainer = FilmTrainer(demos, PLAN, folder / "run", Pace())
    trainer.run()
    trainer.export(Naming("two", "Two", ""), folder / "two")
    return folder / "two"


def observation(seed: int, text: str = TEXT) -> Observation:
    random = np.random.default_rng(seed)
    image = random.integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, np.zeros(8, np.float32), text, 0)


def test_the_beginning_of_a_frame_is_the_first_picture_with_its_instruction(demos: Demonstrations) -> None:
    rows = np.arange(len(demos))
    beginnings = demos.read_beginnings(rows)
    assert np.array_equal(beginnings, demos.read(rows - rows % STEPS).images)


def test_training_shows_both_pictures_in_one_light(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path, Pace())
    batch, rows = trainer.batches.make(3), trainer.order.rows(3)
    channels = batch.images.shape[1] // 2
    assert torch.equal(batch.images[:, channels:], patches(torch.from_numpy(demos.read_beginnings(rows)), 4))
    assert torch.equal(batch.gain[:, channels:], batch.gain[:, :channels])


def test_an_action_depends_on_how_the_turn_began(trained: Path) -> None:
    policy = open_policy(trained)

    def after(first: int) -> np.ndarray:
        policy.reset(TEXT, 0)
        policy.infer(observation(first))
        return policy.infer(observation(2))

    assert np.array_equal(after(1), after(1))
    assert not np.array_equal(after(1), after(5))


@pytest.mark.parametrize("again", ["reset", "instruction"])
def test_a_new_turn_and_another_instruction_begin_anew(trained: Path, again: str) -> None:
    policy, other = open_policy(trained), "take the blue cube"
    policy.reset(other, 0)
    alone = policy.infer(observation(2, other))
    policy.reset(TEXT, 0)
    policy.infer(observation(1))
    if again == "reset":
        policy.reset(other, 0)
    assert np.array_equal(policy.infer(observation(2, other)), alone)


def test_a_network_of_one_picture_remembers_none(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, replace(PLAN, pictures=1), tmp_path / "run", Pace())
    trainer.export(Naming("one", "One", ""), tmp_path / "one")
    policy = open_policy(tmp_path / "one")
    policy.reset(TEXT, 0)
    alone = policy.infer(observation(2))
    policy.infer(observation(1))
    assert np.array_equal(policy.infer(observation(2)), alone)


def test_another_number_of_pictures_is_refused(trained: Path) -> None:
    card = read_json(trained, CARD)
    write_json(trained / CARD, {**card, "network": {**card["network"], "pictures": 3}})
    write_sums(trained)
    with pytest.raises(BadCard, match="pictures: expected 1 or 2, got 3"):
        open_policy(trained)
