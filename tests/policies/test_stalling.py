"""A hand that has stalled or goes in circles draws its next move, or else it would do so for ever."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.base import OpenedPolicy
from policies.film.stalling import AGAIN, CIRCLES, STANDS, Stalling
from policies.film.training import FilmPlan, FilmTrainer
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.tiny import SIZE

BINS = 11
LOOKS = AGAIN + 1
_, NEAR = STANDS
TEXT = "lift the red cube"
HERE = np.array([0.3, 0.0, 0.05, 0.0, 1.0, 0.0, 0.0, 0.5], np.float32)


def undecided(demos: Demonstrations, folder: Path, bins: int = BINS) -> OpenedPolicy:
    """A policy to which every move is nearly as likely as to stay, and whose moves in numbers are always the same."""
    trainer = FilmTrainer(demos, FilmPlan(samples=64, batch=16, move_bins=bins), folder / "run", Pace())
    trainer.ema["action.weight"].zero_()
    if bins:
        odds = torch.zeros(demos.chunk, 3, bins)
        odds[..., bins // 2] = 0.1
        trainer.ema["moves.weight"].zero_()
        trainer.ema["moves.bias"].copy_(odds.flatten())
    trainer.export(Naming("undecided", "Undecided", ""), folder / "undecided")
    return open_policy(folder / "undecided")


def looks(policy: OpenedPolicy, count: int, seed: int = 0, away: float = 0.0) -> list[np.ndarray]:
    """What it answers to the same picture, while the hand goes away by so much between two looks [m]."""
    image = np.random.default_rng(2).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    policy.reset(TEXT, seed)
    there = np.array([away, *[0.0] * 7], np.float32)
    seen = Observation({"workspace": image}, HERE, TEXT, 0)
    return [policy.infer(replace(seen, proprioception=HERE + step * there)) for step in range(count)]


@pytest.mark.usefixtures("engine")
def test_a_hand_that_stays_is_moved_at_the_fourth_look_and_not_before(demos: Demonstrations, tmp_path: Path) -> None:
    *before, then = looks(undecided(demos, tmp_path), LOOKS)
    assert all(np.array_equal(one, before[0]) for one in before)
    assert np.abs(then[:, :3] - before[0][:, :3]).max() > 0.001


@pytest.mark.usefixtures("engine")
def test_all_actions_of_a_chunk_go_the_same_way(demos: Demonstrations, tmp_path: Path) -> None:
    then = looks(undecided(demos, tmp_path), LOOKS)[-1]
    assert then[:, :3] == pytest.approx(np.tile(then[0, :3], (len(then), 1)), abs=1e-7)


@pytest.mark.usefixtures("engine")
def test_the_seed_of_the_turn_decides_what_is_drawn(demos: Demonstrations, tmp_path: Path) -> None:
    policy = undecided(demos, tmp_path)
    one, again, other = (looks(policy, LOOKS, seed)[-1] for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.usefixtures("engine")
def test_a_hand_that_goes_on_is_left_alone(demos: Demonstrations, tmp_path: Path) -> None:
    moves = [answer[:, :3] for answer in looks(undecided(demos, tmp_path), 3 * LOOKS, away=NEAR)]
    assert all(np.array_equal(one, moves[0]) for one in moves)


@pytest.mark.usefixtures("engine")
def test_a_network_of_numbers_draws_nothing(demos: Demonstrations, tmp_path: Path) -> None:
    answers = looks(undecided(demos, tmp_path, bins=0), 3 * LOOKS)
    assert all(np.array_equal(one, answers[0]) for one in answers)


def test_closing_fingers_are_no_standstill() -> None:
    stalling = Stalling()
    closing = [np.array([*HERE[:-1], 1.0 - 0.2 * step], np.float32) for step in range(LOOKS)]
    assert [stalling.draw(readings) for readings in closing] == [None] * LOOKS


def circling(stalling: Stalling, places: int, rounds: int) -> list[bool]:
    """Whether it draws at each look of a hand that goes round so many places, further apart than where it stalls."""
    angles = np.arange(places * rounds) * (2 * np.pi / places)
    around = np.column_stack([HERE[0] + 0.1 * np.cos(angles), 0.1 * np.sin(angles)])
    return [stalling.draw(np.array([*at, *HERE[2:]], np.float32)) is not None for at in around]


def test_a_hand_that_goes_in_circles_draws_when_it_is_there_again() -> None:
    drawn = circling(Stalling(), 4, AGAIN + 1)
    assert drawn.index(True) == 4 * AGAIN


def test_a_hand_that_comes_back_seldom_is_left_alone() -> None:
    assert not any(circling(Stalling(), CIRCLES[0] // AGAIN + 1, AGAIN + 2))


def test_a_new_turn_forgets_the_circles_of_the_last() -> None:
    stalling = Stalling()
    circling(stalling, 4, AGAIN)
    stalling.begin(1)
    assert not any(circling(stalling, 4, AGAIN))
