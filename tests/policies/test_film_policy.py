"""What an opened FiLM policy answers, and what it looks at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from policies.film.training import FilmPlan, FilmTrainer
from policies.networks.film import FilmConfig, FilmNetwork, patches
from policies.registry import open_policy
from policies.training.dataset import Demonstrations
from policies.training.export import Naming
from policies.training.loop import Pace
from simulation.contracts import ACTION_CHUNK, Observation, SpecError
from tests.policies.tiny import SIZE


def observation(text: str = "lift the red cube", seed: int = 0) -> Observation:
    random = np.random.default_rng(seed)
    image = random.integers(0, 255, (SIZE, SIZE, 3), dtype=np.uint8)
    return Observation({"workspace": image}, random.normal(0, 0.1, 8).astype(np.float32), text, 0)


def test_a_chunk_of_actions_is_float64_finite_and_of_the_declared_length(folder: Path) -> None:
    policy = open_policy(folder)
    policy.reset("lift the red cube", seed=1)
    actions = policy.infer(observation())
    ACTION_CHUNK.check(actions)
    assert actions.shape == (policy.spec.chunk, 7)
    assert set(actions[:, 6]) <= {0.0, 1.0}


def test_the_same_observation_gives_the_same_actions_whatever_came_before(folder: Path) -> None:
    policy = open_policy(folder)
    policy.reset("lift the red cube", seed=1)
    first = policy.infer(observation())
    policy.infer(observation(seed=4))
    policy.reset("take the blue cube", seed=2)
    policy.infer(observation("take the blue cube"))
    policy.reset("lift the red cube", seed=3)
    assert np.array_equal(policy.infer(observation()), first)


def test_image_instruction_and_proprioception_all_matter_and_the_step_does_not(folder: Path) -> None:
    policy = open_policy(folder)
    seen = observation()
    base = policy.infer(seen)
    assert not np.array_equal(policy.infer(replace(seen, images=observation(seed=8).images)), base)
    assert not np.array_equal(policy.infer(replace(seen, proprioception=seen.proprioception + 1)), base)
    assert not np.array_equal(policy.infer(replace(seen, instruction="lift the blue cube")), base)
    assert np.array_equal(policy.infer(replace(seen, step=30)), base)


def test_a_picture_of_another_size_is_refused_with_the_right_one(folder: Path) -> None:
    wrong = replace(observation(), images={"workspace": np.zeros((64, 64, 3), np.uint8)})
    with pytest.raises(SpecError, match="32, 32, 3"):
        open_policy(folder).infer(wrong)


def test_a_policy_trained_without_language_ignores_it(demos: Demonstrations, tmp_path: Path) -> None:
    plan = FilmPlan(samples=32, batch=16, language=False)
    trainer = FilmTrainer(demos, plan, tmp_path / "run", Pace())
    trainer.run()
    trainer.export(Naming("film-mute", "Mute", "Never reads."), tmp_path / "film-mute")
    policy = open_policy(tmp_path / "film-mute")
    answers = [policy.infer(observation(text)) for text in ("lift the red cube", "take the blue cube", "xyzzy", "")]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_the_order_of_words_changes_the_encoded_sentence() -> None:
    torch.manual_seed(0)
    network = FilmNetwork(FilmConfig(vocabulary=20, image_size=SIZE)).eval()
    red_on_yellow, yellow_on_red = torch.tensor([[2, 3, 4, 5, 6, 4]]), torch.tensor([[2, 6, 4, 5, 3, 4]])
    assert not torch.allclose(network.text(red_on_yellow), network.text(yellow_on_red))


def test_padding_does_not_change_a_sentence() -> None:
    network = FilmNetwork(FilmConfig(vocabulary=20, image_size=SIZE)).eval()
    alone = network.text(torch.tensor([[2, 3, 4]]))
    padded = network.text(torch.tensor([[2, 3, 4, 0, 0], [5, 6, 7, 8, 9]]))
    assert torch.allclose(alone[0], padded[0], atol=1e-6)


def test_patches_keep_every_pixel_where_it_belongs() -> None:
    image = torch.randint(0, 255, (2, 8, 12, 3), dtype=torch.uint8)
    cells = patches(image, 4)
    assert cells.shape == (2, 48, 2, 3)
    assert cells[1, (2 * 4 + 3) * 3 + 1, 1, 2] == image[1, 4 + 2, 8 + 3, 1]
