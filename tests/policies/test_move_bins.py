"""Networks that have distributions of their moves beside the moves in numbers, which they play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from django.core.management import CommandError, call_command

from policies.base import BadCard, CheckpointError, OpenedPolicy
from policies.film.sizes import read_sizes
from policies.film.training import FilmPlan, FilmTrainer
from policies.film.warm_start import WarmStart
from policies.folder import read_card
from policies.reference import open_with_torch
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import SIZE

BINS = 11
PLAN = FilmPlan(samples=6 * 16, batch=16, warm_up=2, move_bins=BINS)
TEXT = "lift the red cube"


def observation(seed: int = 2) -> Observation:
    image = np.random.default_rng(seed).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, np.zeros(8, np.float32), TEXT, 0)


def exported(trainer: FilmTrainer, folder: Path) -> OpenedPolicy:
    trainer.export(Naming(folder.name, "Binned", ""), folder)
    policy = open_policy(folder)
    policy.reset(TEXT, 0)
    return policy


@pytest.mark.usefixtures("engine")
def test_the_move_in_numbers_is_played_whatever_the_bins_hold_likely(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path / "run", Pace())
    before = exported(trainer, tmp_path / "before").infer(observation())
    trainer.ema["moves.bias"].normal_(generator=torch.Generator().manual_seed(0))
    assert np.array_equal(exported(trainer, tmp_path / "after").infer(observation()), before)


def test_it_is_played_without_torch_as_with_it(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path / "run", Pace())
    trainer.run()
    here = exported(trainer, tmp_path / "binned")
    by_torch = open_with_torch(tmp_path / "binned")
    by_torch.reset(TEXT, 0)
    assert type(here).__name__ == "ExportedFilmPolicy"
    for seed in range(5):
        assert here.infer(observation(seed)) == pytest.approx(by_torch.infer(observation(seed)), abs=2e-6)


def test_training_brings_the_bins_nearer_to_the_labels(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, replace(PLAN, samples=60 * 16), tmp_path / "run", Pace())
    first = trainer.step()["moves"]
    for _ in range(58):
        trainer.step()
    assert trainer.step()["moves"] < 0.9 * first


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(demos: Demonstrations, tmp_path: Path) -> None:
    assert_resuming_changes_nothing(lambda run: FilmTrainer(demos, PLAN, run, Pace()), tmp_path)


def test_numbers_alone_cost_nothing_in_bins(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, replace(PLAN, move_bins=0), tmp_path / "run", Pace())
    assert trainer.step()["moves"] == 0.0
    assert trainer.network.moves is None


def test_a_policy_of_numbers_is_given_bins_and_keeps_its_other_weights(
    demos: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    start = WarmStart.read(folder)
    trainer = FilmTrainer(demos, PLAN, tmp_path / "run", Pace(), start)
    before = {**open_with_torch(folder)._network.state_dict()}  # type: ignore[attr-defined]
    assert all(torch.equal(trainer.ema[name], value) for name, value in before.items())
    assert {*trainer.ema} - {*before} == {"moves.weight", "moves.bias"}


def test_a_policy_of_bins_gives_no_beginning_to_one_of_numbers(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = FilmTrainer(demos, PLAN, tmp_path / "run", Pace())
    exported(trainer, tmp_path / "binned")
    assert read_card(tmp_path / "binned").network["move_bins"] == BINS
    with pytest.raises(CheckpointError, match=f"has move_bins {BINS}, not 0; train with --move-bins {BINS}"):
        FilmTrainer(demos, replace(PLAN, move_bins=0), tmp_path / "other", Pace(), WarmStart.read(tmp_path / "binned"))


@pytest.mark.parametrize("wrong", ["1", "-3", "many"])
def test_the_command_refuses_numbers_of_bins_that_no_move_can_have(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=f"expected 0 or at least 2, got {wrong}"):
        call_command("train", "film", "--data", "x", "--run", "x", "--out", str(tmp_path / "x"), f"--move-bins={wrong}")


def test_a_card_with_a_single_bin_is_refused() -> None:
    with pytest.raises(BadCard, match="move_bins: expected 0 or at least 2, got 1"):
        read_sizes({"vocabulary": 20, "dilations": [1], "move_bins": 1}, 20)
