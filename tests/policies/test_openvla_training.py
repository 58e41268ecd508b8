"""A small OpenVLA learns from demonstrations, goes on exactly when stopped, and opens like any published folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from policies.base import CheckpointError, DatasetError
from policies.folder import WEIGHTS
from policies.networks.openvla import OpenVLA
from policies.openvla.config import read_config
from policies.openvla.losses import SoftBins
from policies.openvla.sizes import OpenVLAMiniSizes, config_json
from policies.openvla.training import TOWERS, OpenVLAPlan, OpenVLATrainer
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Chunking, Observation
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import SIZE, write_demos

SIZES = OpenVLAMiniSizes(image_size=SIZE, patch=8, tower_dim=24, tower_depth=3, tower_heads=2, dim=32, layers=4, mlp=48)
PLAN = OpenVLAPlan(samples=6 * 8, batch=8, warm_up=2, seed=5, sizes=SIZES)
PACE = Pace(log_steps=2)
NAMING = Naming("openvla-toy", "Toy", "For tests.", chunking=Chunking(execute=1))


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(demos: Demonstrations, tmp_path: Path) -> None:
    assert_resuming_changes_nothing(lambda folder: OpenVLATrainer(demos, PLAN, folder, PACE), tmp_path)


def _means(losses: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in losses])) for name in losses[0]}


def test_it_learns_which_thing_the_instruction_names(tmp_path: Path) -> None:
    demos = Demonstrations(write_demos(tmp_path / "demos", episodes=40))
    trainer = OpenVLATrainer(demos, replace(PLAN, samples=120 * 8, warm_up=10), tmp_path / "run", PACE)
    losses = [trainer.step() for _ in range(120)]
    first, last = (
        {name: np.mean([one[name] for one in part]) for name in losses[0]} for part in (losses[:20], losses[-20:])
    )
    assert last["where"] < 0.5 * first["where"]
    assert last["tokens"] < 0.7 * first["tokens"]


def test_the_towers_alone_learn_without_language(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = OpenVLATrainer(demos, replace(PLAN, towers_only=True), tmp_path, PACE)
    before = {name: value.detach().clone() for name, value in trainer.network.named_parameters()}
    terms = trainer.step()
    assert terms["where"] > 0
    assert terms["tokens"] == 0
    after = dict(trainer.network.named_parameters())
    assert not torch.equal(before[f"{TOWERS}featurizer.pos_embed"], after[f"{TOWERS}featurizer.pos_embed"])
    head = "vla.language_model.lm_head.weight"
    assert torch.equal(before[head], after[head])


def test_a_run_can_begin_with_the_averaged_weights_of_another(demos: Demonstrations, tmp_path: Path) -> None:
    towers = OpenVLATrainer(demos, replace(PLAN, towers_only=True), tmp_path / "towers", PACE)
    towers.step()
    towers.save()
    whole = OpenVLATrainer(demos, PLAN, tmp_path / "whole", PACE)
    whole.start_from(tmp_path / "towers")
    for name, value in whole.network.named_parameters():
        assert torch.equal(value, towers.ema[name]), name


def test_beginning_with_a_run_of_other_sizes_names_what_does_not_fit(demos: Demonstrations, tmp_path: Path) -> None:
    OpenVLATrainer(demos, PLAN, tmp_path / "run", PACE).save()
    other = OpenVLATrainer(demos, replace(PLAN, sizes=replace(SIZES, dim=16)), tmp_path / "other", PACE)
    with pytest.raises(CheckpointError, match="other sizes; vla"):
        other.start_from(tmp_path / "run")


def test_the_towers_can_learn_slower_than_the_rest(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = OpenVLATrainer(demos, replace(PLAN, tower_rate=0.25), tmp_path, PACE)
    trainer.step()
    fast, slow = trainer.optimiser.param_groups
    assert slow["lr"] == pytest.approx(0.25 * fast["lr"])
    assert sum(len(group["params"]) for group in (fast, slow)) == len(list(trainer.network.parameters()))


def test_resuming_with_other_sizes_names_what_differs(demos: Demonstrations, tmp_path: Path) -> None:
    OpenVLATrainer(demos, PLAN, tmp_path, PACE).save()
    with pytest.raises(CheckpointError, match=r"tower_rate 1\.0, not 0\.5"):
        OpenVLATrainer(demos, replace(PLAN, tower_rate=0.5), tmp_path, PACE).resume()


def test_demonstrations_that_do_not_name_their_things_are_refused(tmp_path: Path) -> None:
    folder = write_demos(tmp_path / "demos")
    index = folder / "dataset.json"
    index.write_text(index.read_text("utf-8").replace('"things"', '"other"'), "utf-8")
    with pytest.raises(DatasetError, match=r"demos --resume"):
        OpenVLATrainer(Demonstrations(folder), PLAN, tmp_path / "run", PACE)


def test_soft_bins_prefer_the_right_bin_then_its_neighbours() -> None:
    config = read_config(config_json(SIZES))
    bins, digit = SoftBins(config), torch.tensor([100])
    loss = []
    for off in (0, 1, 5, 60):
        logits = torch.zeros(1, config.language.vocabulary)
        logits[0, config.base_vocabulary - 100 - off] = 10.0
        loss.append(float(bins(logits, digit)))
    assert loss == sorted(loss)
    assert loss[0] < loss[1] < loss[2]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("openvla")
    trainer = OpenVLATrainer(Demonstrations(write_demos(base / "demos")), PLAN, base / "run", PACE)
    trainer.run()
    trainer.export(NAMING, base / "openvla-toy")
    return base / "openvla-toy"


def _see(instruction: str) -> Observation:
    picture = np.random.default_rng(0).integers(0, 255, (SIZE, SIZE, 3), np.uint8)
    return Observation({"workspace": picture}, np.zeros(8, np.float32), instruction, 0)


def test_the_exported_folder_opens_and_answers_one_action_within_the_data(shipped: Path) -> None:
    policy = open_policy(shipped)
    policy.reset("lift the red cube", 0)
    action = policy.infer(_see("lift the red cube"))
    assert action.shape == (1, 7)
    assert np.isfinite(action).all()
    assert policy.spec.statistics_key == "arena_widowx"


def test_the_shipped_tensors_are_those_of_the_architecture_alone(shipped: Path) -> None:
    expected = OpenVLA(read_config(config_json(SIZES))).state_dict()
    found = load_file(shipped / WEIGHTS)
    assert {name: value.shape for name, value in found.items()} == {n: value.shape for n, value in expected.items()}


def test_of_an_endless_instruction_the_beginning_is_read(shipped: Path) -> None:
    policy = open_policy(shipped)
    policy.reset("zq" * 200, 0)
    assert policy.infer(_see("zq" * 200)).shape == (1, 7)


def test_a_later_export_replaces_the_first_whole(shipped: Path, tmp_path: Path, demos: Demonstrations) -> None:
    trainer = OpenVLATrainer(demos, PLAN, tmp_path / "run", PACE)
    first = trainer.export(NAMING, tmp_path / "toy")
    trainer.step()
    second = trainer.export(NAMING, tmp_path / "toy")
    assert first.revision != second.revision
    open_policy(tmp_path / "toy")
