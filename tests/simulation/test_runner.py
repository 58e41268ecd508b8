import time

import numpy as np
import pytest

from simulation.contracts import CameraSpec, Chunking, Floats, Limits, Observation, PolicyFailure
from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.runner import run_episode
from tests.simulation.fakes import Diary, FakePolicy, still

TEXT = "pick up the red cube"


def test_success_ends_a_rollout_once_it_was_held_for_a_second(environment: Environment) -> None:
    diary = Diary()
    result = run_episode(environment, ScriptedExpert(environment), TEXT, 0, [diary])
    assert (result.termination_reason, result.success, result.progress) == ("success", True, 1.0)
    assert [record.success for record in diary.records[-6:]] == [False, True, True, True, True, True]
    assert result.total_reward == pytest.approx(sum(record.reward for record in diary.records))
    assert result.total_reward == pytest.approx(2.0)


def test_the_step_limit_ends_a_rollout(environment: Environment) -> None:
    result = run_episode(environment, FakePolicy(lambda _: still()), TEXT, 0, limits=Limits(max_steps=3))
    assert (result.termination_reason, result.steps, result.error) == ("step_limit", 3, None)


def test_the_wall_clock_ends_a_rollout(environment: Environment) -> None:
    def slow(_: Observation) -> Floats:
        time.sleep(0.05)
        return still()

    result = run_episode(environment, FakePolicy(slow), TEXT, 0, limits=Limits(wall_s=0.12))
    assert result.termination_reason == "time_limit"
    assert 1 <= result.steps < 10


def test_diverged_physics_ends_a_rollout_and_leaves_no_broken_state(environment: Environment) -> None:
    def break_it(observation: Observation) -> Floats:
        if observation.step == 2:
            environment.data.qvel[10] = 1e12
        return still()

    diary = Diary()
    result = run_episode(environment, FakePolicy(break_it), TEXT, 0, [diary])
    assert (result.termination_reason, result.success, result.steps) == ("diverged", False, 2)
    assert result.error == "physics became unstable"
    assert all(np.isfinite(record.state.qvel).all() for record in diary.records)
    environment.reset(0)
    assert run_episode(environment, FakePolicy(lambda _: still()), TEXT, 0, limits=Limits(max_steps=2)).steps == 2


def raises(_: Observation) -> Floats:
    raise ZeroDivisionError("secret-policy-name")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _: np.full((1, 7), np.nan), "finite"),
        (lambda _: np.zeros((1, 6)), "7"),
        (lambda _: np.zeros(7), "expected float64"),
        (lambda _: np.zeros((0, 7)), "1..64 rows, got 0"),
        (lambda _: np.zeros((65, 7)), "1..64 rows, got 65"),
        (lambda _: None, "NoneType"),
        (raises, "ZeroDivisionError"),
    ],
)
def test_a_policy_that_misbehaves_fails_its_rollout_with_a_reason(
    environment: Environment, answer, reason: str
) -> None:
    diary = Diary()
    with pytest.raises(PolicyFailure) as failure:
        run_episode(environment, FakePolicy(answer), TEXT, 0, [diary])
    assert reason in failure.value.reason
    assert "secret-policy-name" not in failure.value.reason
    assert "end" not in diary.notes


def test_a_policy_that_is_too_slow_fails_its_rollout(environment: Environment) -> None:
    def slow(_: Observation) -> Floats:
        time.sleep(0.05)
        return still()

    with pytest.raises(PolicyFailure, match=r"infer took 0.1 s, at most 0.01 s"):
        run_episode(environment, FakePolicy(slow), TEXT, 0, limits=Limits(infer_s=0.01))


def test_listeners_hear_the_start_every_step_and_the_end(environment: Environment) -> None:
    first, second = Diary(), Diary()
    run_episode(environment, FakePolicy(lambda _: still()), TEXT, 0, [first, second], Limits(max_steps=2))
    assert first.notes == second.notes == ["start", "step", "step", "end"]


def test_a_policy_sees_picture_instruction_proprioception_and_step(environment: Environment) -> None:
    policy = FakePolicy(lambda _: still())
    small = CameraSpec("workspace", 64, 96)
    run_episode(environment, policy, TEXT, 0, limits=Limits(max_steps=2), cameras=(small,))
    first, second = policy.seen
    assert (first.instruction, first.step, second.step) == (TEXT, 0, 1)
    assert first.images["workspace"].shape == (64, 96, 3)
    assert first.proprioception.dtype == np.float32
    assert first.proprioception[3] ** 2 + first.proprioception[4] ** 2 == pytest.approx(1.0, abs=1e-5)
    assert first.proprioception[7] == pytest.approx(1.0, abs=0.01)


def test_a_chunk_is_played_before_the_policy_is_asked_again(environment: Environment) -> None:
    policy = FakePolicy(lambda _: still(4))
    run_episode(environment, policy, TEXT, 0, limits=Limits(max_steps=8), chunking=Chunking(execute=3))
    assert [seen.step for seen in policy.seen] == [0, 3, 6]


def test_a_chunk_shorter_than_execute_is_played_whole(environment: Environment) -> None:
    policy = FakePolicy(lambda _: still(2))
    run_episode(environment, policy, TEXT, 0, limits=Limits(max_steps=5), chunking=Chunking(execute=4))
    assert [seen.step for seen in policy.seen] == [0, 2, 4]


def test_ensembling_averages_what_overlaps_weighted_by_age(environment: Environment) -> None:
    def answer(observation: Observation) -> Floats:
        chunk = still(2)
        chunk[:, 0] = [0.01, 0.04] if observation.step == 0 else [0.01, 0.01]
        return chunk

    diary = Diary()
    policy = FakePolicy(answer)
    run_episode(environment, policy, TEXT, 0, [diary], Limits(max_steps=2), Chunking(ensemble=0.5))
    assert len(policy.seen) == 2
    assert diary.records[1].action[0] == pytest.approx((0.01 + 0.5 * 0.04) / 1.5)
