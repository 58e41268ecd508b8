"""Rollouts inferred together do what each does alone, and keep their windows, noise and instructions to themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from policies.base import BatchPolicy
from policies.registry import open_policy
from simulation.contracts import Floats, Observation, SpecError
from tests.policies.tiny_networks import write_octo, write_openvla

TEXTS = ["pick up the red cube", "pick up the cube", "cube"]
ROUNDING = 1e-3  # twenty steps of a network with random weights blow differences of 1e-6 up
SIZES = {"octo": (48, 64), "openvla": (28, 28)}
Batch = BatchPolicy[Any]


@pytest.fixture(params=[write_octo, write_openvla], ids=["octo", "openvla"], scope="module")
def policy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    write: Callable[[Path], Path] = request.param
    return open_policy(write(tmp_path_factory.mktemp("batches") / "tiny"))


def look(policy: Any, rollout: int, step: int, instruction: str | None = None) -> Observation:
    size = SIZES[policy.spec.family]
    image = np.random.default_rng([rollout, step]).integers(0, 256, (*size, 3), dtype=np.uint8)
    text = TEXTS[rollout] if instruction is None else instruction
    return Observation({"workspace": image}, np.zeros(8, np.float32), text, step)


def alone(policy: Any, rollout: int, steps: int = 4) -> list[Floats]:
    policy.reset(TEXTS[rollout], rollout)
    return [policy.infer(look(policy, rollout, step)) for step in range(steps)]


def test_the_families_batch(policy: Any) -> None:
    assert isinstance(policy, BatchPolicy)
    assert policy.best_batch > 1


def test_a_batch_gives_what_each_rollout_gives_alone(policy: Any) -> None:
    expected = [alone(policy, rollout) for rollout in range(3)]
    states = [policy.begin(text, rollout) for rollout, text in enumerate(TEXTS)]
    for step in range(4):
        together = policy.infer_batch([look(policy, rollout, step) for rollout in range(3)], states)
        for rollout, actions in enumerate(together):
            assert (actions.dtype, actions.shape) == (np.float64, expected[rollout][step].shape)
            assert_allclose(actions, expected[rollout][step], atol=ROUNDING)


def test_rollouts_may_start_and_end_at_different_times(policy: Any) -> None:
    expected = [alone(policy, rollout) for rollout in range(3)]
    states: list[Any] = [None] * 3
    starts, ends = [0, 1, 3], [4, 5, 7]
    for now in range(7):
        playing = [rollout for rollout in range(3) if starts[rollout] <= now < ends[rollout]]
        for rollout in playing:
            if now == starts[rollout]:
                states[rollout] = policy.begin(TEXTS[rollout], rollout)
        observations = [look(policy, rollout, now - starts[rollout]) for rollout in playing]
        answers = policy.infer_batch(observations, [states[rollout] for rollout in playing])
        for rollout, actions in zip(playing, answers, strict=True):
            assert_allclose(actions, expected[rollout][now - starts[rollout]], atol=ROUNDING)


def test_a_batch_does_not_disturb_the_rollout_played_one_by_one(policy: Any) -> None:
    expected = alone(policy, 0)
    policy.reset(TEXTS[0], 0)
    state = policy.begin(TEXTS[1], 1)
    for step in range(4):
        assert (policy.infer(look(policy, 0, step)) == expected[step]).all()
        policy.infer_batch([look(policy, 1, step)], [state])


def test_an_instruction_heard_before_is_not_mixed_with_others(policy: Any) -> None:
    before = alone(policy, 0)
    alone(policy, 1)
    assert all((one == other).all() for one, other in zip(before, alone(policy, 0), strict=True))


def test_a_rollout_told_something_else_does_that(policy: Any) -> None:
    """The instruction of the observation counts, as between two turns."""
    policy.reset(TEXTS[0], 5)
    said = policy.infer(look(policy, 0, 0, TEXTS[1]))
    policy.reset(TEXTS[1], 5)
    assert (policy.infer(look(policy, 0, 0, TEXTS[1])) == said).all()


def test_after_a_refused_batch_the_others_go_on_as_if_it_had_not_been(policy: Any) -> None:
    expected = alone(policy, 0)
    states = [policy.begin(TEXTS[rollout], rollout) for rollout in range(2)]
    policy.infer_batch([look(policy, rollout, 0) for rollout in range(2)], states)
    good = look(policy, 1, 1)
    bad = Observation({"workspace": np.zeros((3, 3, 3), np.uint8)}, good.proprioception, good.instruction, 1)
    with pytest.raises(SpecError):
        policy.infer_batch([look(policy, 0, 1), bad], states)
    for step in range(1, 4):
        (actions,) = policy.infer_batch([look(policy, 0, step)], states[:1])
        assert_allclose(actions, expected[step], atol=ROUNDING)
