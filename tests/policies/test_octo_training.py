"""A small Octo learns from demonstrations, goes on exactly when stopped, and opens like any published folder."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from policies.base import BadCard, CheckpointError, DatasetError
from policies.folder import CARD, WEIGHTS, write_sums
from policies.networks.octo import Octo, OctoObservation, OctoTask
from policies.octo.auxiliary import locate
from policies.octo.initial import initialise
from policies.octo.one_frame import OneFrame
from policies.octo.sizes import OctoMiniSizes, octo_config
from policies.octo.stem import stem_tokens
from policies.octo.text import TextTokenizer
from policies.octo.tokenizer import train_tokenizer
from policies.octo.training import OctoPlan, OctoTrainer
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import Observation
from tests.policies.resuming import assert_resuming_changes_nothing
from tests.policies.tiny import SIZE, write_demos

SIZES = OctoMiniSizes(
    image_size=SIZE, features=(32, 32, 32), dim=32, layers=3, mlp=48, text_dim=32, text_mlp=48, head_hidden=32
)
PLAN = OctoPlan(samples=6 * 8, batch=8, warm_up=2, seed=5, sizes=SIZES)
PACE = Pace(log_steps=2)


def test_a_resumed_run_has_the_losses_and_weights_of_one_never_stopped(demos: Demonstrations, tmp_path: Path) -> None:
    assert_resuming_changes_nothing(lambda folder: OctoTrainer(demos, PLAN, folder, PACE), tmp_path)


def test_resuming_with_other_sizes_names_what_differs(demos: Demonstrations, tmp_path: Path) -> None:
    OctoTrainer(demos, PLAN, tmp_path, PACE).save()
    other = OctoTrainer(demos, replace(PLAN, draws=2), tmp_path, PACE)
    with pytest.raises(CheckpointError, match="draws 4, not 2"):
        other.resume()


def test_a_run_learns(demos: Demonstrations, tmp_path: Path) -> None:
    plan = replace(PLAN, samples=60 * 8, learning_rate=2e-3)
    trainer = OctoTrainer(demos, plan, tmp_path, PACE)
    losses = [trainer.step() for _ in range(plan.steps)]
    for term, share in (("total", 0.9), ("text", 0.5)):
        early, late = (np.mean([step[term] for step in part]) for part in (losses[:10], losses[-10:]))
        assert late < share * early, term


def test_the_exported_folder_opens_like_a_published_one_and_plays(demos: Demonstrations, tmp_path: Path) -> None:
    trainer = OctoTrainer(demos, PLAN, tmp_path / "run", PACE)
    trainer.run()
    card = trainer.export(Naming("octo-toy", "Toy", "For tests."), tmp_path / "octo-toy")
    assert "Octo architecture, trained by VLA Arena" in card.provenance
    stored = load_file(tmp_path / "octo-toy" / WEIGHTS)
    assert set(stored) == set(Octo(trainer.config).state_dict())
    policy = open_policy(tmp_path / "octo-toy")
    image = np.zeros((SIZE, SIZE, 3), np.uint8)
    observation = Observation({"workspace": image}, np.zeros(8, np.float32), "lift the red cube", 0)
    policy.reset(observation.instruction, 3)
    first = policy.infer(observation)
    policy.reset(observation.instruction, 3)
    assert first.shape == (4, 7)
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(policy.infer(observation), first)
    policy.reset("lift " * 30, 0)
    assert policy.infer(observation).shape == (4, 7)
    policy.close()


@pytest.mark.parametrize(("temperature", "same"), [(0, True), (0.5, False), (None, False)])
def test_without_noise_the_seed_decides_nothing(
    demos: Demonstrations, tmp_path: Path, temperature: float | None, same: bool
) -> None:
    policy = open_policy(_with_temperature(demos, tmp_path, temperature))
    observation = Observation(
        {"workspace": np.zeros((SIZE, SIZE, 3), np.uint8)}, np.zeros(8, np.float32), "lift the red cube", 0
    )
    answers = []
    for seed in (1, 2):
        policy.reset(observation.instruction, seed)
        answers.append(policy.infer(observation))
    assert np.array_equal(answers[0], answers[1]) == same
    policy.close()


@pytest.mark.parametrize("temperature", [-0.1, 1.5, "warm"])
def test_a_temperature_that_is_none_is_refused(demos: Demonstrations, tmp_path: Path, temperature: object) -> None:
    with pytest.raises(BadCard, match=r"temperature: expected a number in 0\.\.1"):
        open_policy(_with_temperature(demos, tmp_path, temperature))


def _with_temperature(demos: Demonstrations, base: Path, temperature: object) -> Path:
    folder = base / "octo-toy"
    OctoTrainer(demos, PLAN, base / "run", PACE).export(Naming("octo-toy", "Toy", "For tests."), folder)
    card = json.loads((folder / CARD).read_text("utf-8"))
    card["network"]["temperature"] = temperature
    if temperature is None:
        del card["network"]["temperature"]
    (folder / CARD).write_text(json.dumps(card), "utf-8")
    write_sums(folder)
    return folder


def test_walking_one_frame_gives_the_readout_of_the_whole_network() -> None:
    torch.manual_seed(0)
    network = Octo(octo_config(SIZES))
    initialise(network)
    images = torch.randint(0, 256, (2, SIZE, SIZE, 3)).float()
    ids, present = torch.randint(0, 512, (2, 20)), torch.arange(20).expand(2, -1) < torch.tensor([[6], [11]])
    output = OneFrame(network)(images, ids, present)
    shown = torch.ones(2, 1, dtype=torch.bool)
    whole = network(OctoObservation({"primary": images[:, None]}, shown), OctoTask(network.encode_text(ids, present)))
    torch.testing.assert_close(output.readout, network.readout(whole)[:, 0], atol=2e-5, rtol=1e-4)
    assert output.middle.shape == output.stem.shape == (2, 4, 32)
    assert [scores.shape for scores in output.readout_scores] == [(2, 4, 25)] * 2


def test_the_stem_of_training_has_the_numbers_and_gradients_of_the_network() -> None:
    torch.manual_seed(0)
    stem = OneFrame(Octo(octo_config(replace(SIZES, features=(32, 64, 128))))).stem
    images, weights = torch.rand(3, SIZE, SIZE, 3) * 255, torch.randn(3, 4, 32)
    for name, parameter in stem.named_parameters():
        if "Norm" in name:
            torch.nn.init.normal_(parameter, 1.0, 0.3)
    answers, gradients = [], []
    for forward in (stem, partial(stem_tokens, stem)):
        stem.zero_grad()
        answers.append(forward(images))
        (answers[-1] * weights).sum().backward()
        gradients.append([parameter.grad for parameter in stem.parameters()])
    torch.testing.assert_close(*answers, atol=2e-5, rtol=1e-4)
    for wanted, got in zip(*gradients, strict=True):
        torch.testing.assert_close(got, wanted, atol=2e-4, rtol=1e-3)


def test_walking_refuses_a_network_that_sees_two_frames() -> None:
    config = replace(octo_config(SIZES), window=2, max_horizon=2)
    with pytest.raises(ValueError, match="expected window 1"):
        OneFrame(Octo(config))


def test_another_instruction_counts_with_its_first_action_alone(demos: Demonstrations, tmp_path: Path) -> None:
    batches = OctoTrainer(demos, replace(PLAN, others=1.0), tmp_path, PACE).batches
    batch = batches.make(0)
    rows = batches.order.rows(0)
    named = demos.labels["task"][rows]
    assert not batch.labels.own.any()
    np.testing.assert_array_equal(batch.labels.roles[:, 0].numpy(), 1 - named)
    np.testing.assert_array_equal(batch.labels.mask.sum(1).numpy(), 1)
    wanted = demos.read_scene(rows)
    np.testing.assert_allclose(
        batch.labels.pointed[:, 0].numpy(), wanted.things_pixels[np.arange(8), 1 - named], atol=1e-6
    )
    scale = batches.scale
    np.testing.assert_allclose(
        scale.unnormalise(batch.labels.actions[:, 0].double().numpy()), wanted.actions[:, 0], atol=1e-6
    )


def test_undisturbed_batches_keep_pictures_and_instructions(demos: Demonstrations, tmp_path: Path) -> None:
    batches = OctoTrainer(demos, replace(PLAN, others=1.0), tmp_path, PACE).batches
    rows = np.arange(5)
    batch = batches.collect(rows, np.random.default_rng(0), disturb=False)
    np.testing.assert_array_equal(batch.images.numpy(), demos.read(rows).images)
    assert batch.labels.own.all()


def test_demonstrations_that_do_not_name_their_things_are_refused(tmp_path: Path) -> None:
    folder = write_demos(tmp_path / "demos")
    index = (folder / "dataset.json").read_text("utf-8")
    (folder / "dataset.json").write_text(index.replace('"things"', '"elsewhere"'), "utf-8")
    with pytest.raises(DatasetError, match="do not name their things"):
        OctoTrainer(Demonstrations(folder), PLAN, tmp_path / "run", PACE)


def test_points_fall_into_cells_row_by_row_and_none_outside_the_picture() -> None:
    pixels = torch.tensor([[[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [1.2, 0.5]]])
    cells, inside = locate(pixels, 4)
    assert cells[0, :3].tolist() == [0, 1, 2]
    assert inside[0].tolist() == [True, True, True, False]


def test_the_tokenizer_is_the_same_for_the_same_texts_and_reads_anything() -> None:
    texts = ["pick up the red cube", "lift the blue tin"]
    first, second = (train_tokenizer(order, 512) for order in (texts, texts[::-1]))
    assert first.to_str() == second.to_str()
    assert max(first.get_vocab().values()) < 512
    assert first.decode(first.encode("Pick up the Würfel 7!").ids).strip() == "pick up the würfel 7!"
    ids, present = TextTokenizer(first, octo_config(SIZES).text).encode("pick up the red cube")
    assert ids[0, int(present.sum()) - 1] == 1
    assert int(present.sum()) == 6
