"""A hand that has let go and rests while the turn goes on has not reached the goal: it begins anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.base import OpenedPolicy
from policies.film.stalling import OPEN, RESTS
from policies.film.training import FilmPlan, FilmTrainer
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.tiny import SIZE, write_demos

LOOKS, NEAR = RESTS
PLAN = FilmPlan(samples=16, batch=16, warm_up=1, pictures=2, stages=2)
TEXT = "lift the red cube"
HERE = np.array([0.3, 0.0, 0.05, 0.0, 1.0, 0.0, 0.0, 1.0], np.float32)
HELD = np.array([*HERE[:-1], OPEN], np.float32)
ASIDE, UP = ([*at, *[0.0] * 5] for at in ((NEAR / 2, 0.0, 0.0), (0.0, 0.0, 2 * NEAR)))
BEGAN, NOW = 1, 2  # the first picture and all others


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    folder = write_demos(tmp_path_factory.mktemp("staged"))
    for shard in folder.glob("shard-*"):
        np.save(shard / "stage.npy", (np.load(shard / "since.npy") >= 4).astype(np.int8))
    return Demonstrations(folder)


def opened(staged: Demonstrations, folder: Path, noticed: int = 0) -> OpenedPolicy:
    """A policy that compares with the first picture, and notices this stage in every picture."""
    trainer = FilmTrainer(staged, PLAN, folder / "run", Pace())
    trainer.run()
    trainer.ema["memory.notice.2.weight"].zero_()
    trainer.ema["memory.notice.2.bias"].copy_(torch.eye(2)[noticed])
    trainer.export(Naming("compares", "Compares", ""), folder / "compares")
    return open_policy(folder / "compares")


def seen(picture: int, readings: np.ndarray, text: str = TEXT) -> Observation:
    image = np.random.default_rng(picture).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, readings, text, 0)


def answers(policy: OpenedPolicy, *readings: np.ndarray) -> list[np.ndarray]:
    """Of a new turn: what it answers to the picture NOW with each of the readings, after one look at BEGAN."""
    policy.reset(TEXT, 0)
    policy.infer(seen(BEGAN, readings[0]))
    return [policy.infer(seen(NOW, reading)) for reading in readings]


def anew(policy: OpenedPolicy, readings: np.ndarray) -> np.ndarray:
    """What it answers to the picture NOW where a turn begins with that."""
    policy.reset(TEXT, 0)
    return policy.infer(seen(NOW, readings))


def places(start: np.ndarray, step: object, count: int = LOOKS) -> list[np.ndarray]:
    """A hand that goes on by `step` and back, in turn."""
    return [start + (number % 2) * np.array(step, np.float32) for number in range(count)]


@pytest.mark.usefixtures("engine")
def test_an_open_hand_that_rests_begins_anew_at_the_tenth_look_and_not_before(
    staged: Demonstrations, tmp_path: Path
) -> None:
    policy = opened(staged, tmp_path)
    *before, then, after = answers(policy, *places(HERE, np.zeros(8)))
    assert all(np.array_equal(one, before[0]) for one in before)
    assert not np.array_equal(before[0], then)
    assert np.array_equal(then, after)
    assert np.array_equal(then, anew(policy, HERE))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("step", [ASIDE, UP], ids=["aside", "up and down"])
def test_a_hand_that_moves_a_little_aside_or_only_up_and_down_rests(
    staged: Demonstrations, tmp_path: Path, step: list[float]
) -> None:
    policy = opened(staged, tmp_path)
    *_, then = answers(policy, *places(HERE, step, LOOKS - 1))
    assert np.array_equal(then, anew(policy, places(HERE, step, LOOKS - 1)[-1]))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("start", "step"),
    [(HELD, np.zeros(8)), (HERE, [2 * NEAR, *[0.0] * 7]), (HERE, [0.0, 2 * NEAR, *[0.0] * 6])],
    ids=["holds", "moves in x", "moves in y"],
)
def test_a_hand_that_holds_something_or_moves_goes_on(
    staged: Demonstrations, tmp_path: Path, start: np.ndarray, step: object
) -> None:
    policy = opened(staged, tmp_path)
    readings = places(start, step, 3 * LOOKS)
    even = answers(policy, *readings)[::2]
    assert all(np.array_equal(one, even[0]) for one in even)


@pytest.mark.usefixtures("engine")
def test_a_hand_that_has_reached_a_stage_goes_on(staged: Demonstrations, tmp_path: Path) -> None:
    after = answers(opened(staged, tmp_path, noticed=1), *places(HERE, np.zeros(8), 3 * LOOKS))[1:]
    assert all(np.array_equal(one, after[0]) for one in after)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("again", ["reset", "instruction"])
def test_a_new_turn_and_another_instruction_count_from_their_own_first_look(
    staged: Demonstrations, tmp_path: Path, again: str
) -> None:
    policy, other = opened(staged, tmp_path), "take the blue cube"
    text = TEXT if again == "reset" else other
    answers(policy, *places(HERE, np.zeros(8), LOOKS - 2))  # one look more and it would begin anew
    if again == "reset":
        policy.reset(text, 0)
    policy.infer(seen(BEGAN, HERE, text))
    before = [policy.infer(seen(NOW, HERE, text)) for _ in range(LOOKS - 2)]
    assert all(np.array_equal(one, before[0]) for one in before)
    assert not np.array_equal(policy.infer(seen(NOW, HERE, text)), before[0])


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("lacks", [{"pictures": 1}, {"stages": 0}], ids=["first picture", "memory"])
def test_a_network_without_a_first_picture_or_a_memory_goes_on(
    staged: Demonstrations, tmp_path: Path, lacks: dict[str, int]
) -> None:
    trainer = FilmTrainer(staged, replace(PLAN, **lacks), tmp_path / "run", Pace())
    trainer.run()
    trainer.export(Naming("plain", "Plain", ""), tmp_path / "plain")
    resting = answers(open_policy(tmp_path / "plain"), *places(HERE, np.zeros(8), 3 * LOOKS))
    assert all(np.array_equal(one, resting[0]) for one in resting)
