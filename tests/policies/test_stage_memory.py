"""Networks that remember how many stages of a goal they have noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.base import DatasetError, OpenedPolicy
from policies.film.training import FilmPlan, FilmTrainer
from policies.film.warm_start import WarmStart
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import SIZE, STEPS, write_demos

PLAN = FilmPlan(samples=6 * 16, batch=16, warm_up=2, stages=3)
TEXT = "lift the red cube"


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Demonstrations:
    """In every instruction a stage is reached at the fourth frame and another one at the seventh."""
    folder = write_demos(tmp_path_factory.mktemp("staged"))
    for shard in folder.glob("shard-*"):
        since = np.load(shard / "since.npy")
        np.save(shard / "stage.npy", ((since >= 3).astype(np.int8) + (since >= 6)).astype(np.int8))
    return Demonstrations(folder)


def observation(seed: int = 2, text: str = TEXT) -> Observation:
    image = np.random.default_rng(seed).integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, np.zeros(8, np.float32), text, 0)


def opened(staged: Demonstrations, folder: Path, noticed: int) -> OpenedPolicy:
    """A policy whose actions depend on the stage, and which notices the same stage in every picture."""
    trainer = FilmTrainer(staged, PLAN, folder / "run", Pace())
    trainer.ema["memory.change.weight"].normal_(generator=torch.Generator().manual_seed(0))
    trainer.ema["memory.notice.2.weight"].zero_()
    trainer.ema["memory.notice.2.bias"].copy_(torch.eye(3)[noticed])
    trainer.export(Naming("staged", "Staged", ""), folder / "staged")
    policy = open_policy(folder / "staged")
    policy.reset(TEXT, 0)
    return policy


def test_stages_of_earlier_frames_end_at_the_beginning_of_the_instruction(staged: Demonstrations) -> None:
    rows = np.arange(STEPS, 2 * STEPS)
    assert staged.stages(rows, np.zeros(STEPS, int)).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert staged.stages(rows, np.full(STEPS, 2)).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert staged.stages(rows, np.full(STEPS, 99)).tolist() == [0] * STEPS


def test_training_shows_what_was_reached_before_and_asks_for_what_is_reached(
    staged: Demonstrations, tmp_path: Path
) -> None:
    batches = [FilmTrainer(staged, PLAN, tmp_path, Pace()).batches.make(step) for step in range(4)]
    behind = torch.cat([batch.labels.stage - batch.before for batch in batches])
    assert set(behind.tolist()) <= {0, 1, 2}
    assert behind.sum() > 0


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(staged: Demonstrations, tmp_path: Path) -> None:
    assert_resuming_changes_nothing(lambda folder: FilmTrainer(staged, PLAN, folder, Pace()), tmp_path)


@pytest.mark.usefixtures("engine")
def test_a_new_memory_changes_no_action_of_the_policy_that_it_begins_with(
    staged: Demonstrations, folder: Path, tmp_path: Path
) -> None:
    trainer = FilmTrainer(staged, PLAN, tmp_path / "run", Pace(), WarmStart.read(folder))
    trainer.export(Naming("new", "New", ""), tmp_path / "new")
    old, new = open_policy(folder), open_policy(tmp_path / "new")
    for policy in (old, new):
        policy.reset(TEXT, 0)
    for seed in range(3):
        assert np.array_equal(old.infer(observation(seed)), new.infer(observation(seed)))


@pytest.mark.usefixtures("engine")
def test_one_stage_is_counted_at_a_time_and_changes_the_actions(staged: Demonstrations, tmp_path: Path) -> None:
    policy = opened(staged, tmp_path, noticed=2)
    none, one, two, again = (policy.infer(observation()) for _ in range(4))
    assert not np.array_equal(none, one)
    assert not np.array_equal(one, two)
    assert np.array_equal(two, again)


@pytest.mark.usefixtures("engine")
def test_nothing_is_remembered_where_nothing_is_noticed(staged: Demonstrations, tmp_path: Path) -> None:
    policy = opened(staged, tmp_path, noticed=0)
    assert np.array_equal(policy.infer(observation()), policy.infer(observation()))


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("again", ["reset", "instruction"])
def test_a_new_turn_and_another_instruction_begin_without_a_stage(
    staged: Demonstrations, tmp_path: Path, again: str
) -> None:
    policy = opened(staged, tmp_path, noticed=1)
    first = policy.infer(observation())
    assert not np.array_equal(policy.infer(observation()), first)
    if again == "reset":
        policy.reset(TEXT, 0)
    else:
        policy.infer(observation(text="take the blue cube"))
    assert np.array_equal(policy.infer(observation()), first)


def test_demonstrations_without_stages_are_refused(demos: Demonstrations, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="stages 3: the demonstrations do not tell stages"):
        FilmTrainer(demos, PLAN, tmp_path, Pace())
    FilmTrainer(demos, replace(PLAN, stages=0), tmp_path, Pace()).step()
