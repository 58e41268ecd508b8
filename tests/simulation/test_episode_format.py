import gzip

import numpy as np
import pytest

from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.episode_format import (
    EpisodeFormatError,
    actions_of,
    build_document,
    state_at,
    step_count,
    to_float32,
    to_float64,
)
from simulation.recorder import Recorder
from simulation.verification import first_difference
from tests.replay_bin import rows_of_replay
from tests.simulation.conftest import Record
from tests.simulation.fakes import FakePolicy, still
from tests.states_bin import from_float32

MOST_COMPRESSED = 13_000  # bytes of 50 steps on the wire (V-MG-04)


def restless(observation: Observation) -> Floats:
    rng = np.random.default_rng(observation.step)
    return still() + rng.normal(size=(1, 7)) * [0.03, 0.03, 0.03, 0.2, 0.2, 0.2, 0.0]


def test_the_document_has_every_state_and_action(record: Record, environment: Environment) -> None:
    document = record("pick up the blue cylinder")
    steps = step_count(document)
    assert document["steps"] == steps
    assert len(document["states"]) == len(document["control"]) == len(document["qacc_warmstart"]) == steps + 1
    assert actions_of(document).shape == (steps, 7)
    assert document["states"][-1]["time"] == pytest.approx(0.2 * steps)
    assert (document["success"], document["termination_reason"]) == (True, "success")
    assert first_difference(state_at(document, -1), environment.state()) is None
    assert document["start_hash"] == environment.reset(0).hash(environment.engine_version, environment.scene_hash)


def test_the_float32_form_round_trips(record: Record, environment: Environment) -> None:
    document = record("pick up the blue cylinder")
    nq, nv = environment.model.nq, environment.model.nv
    table = from_float32(to_float32(document), nq, nv)
    assert table.shape == (step_count(document) + 1, 1 + nq + nv)
    for row, state in zip(table, document["states"], strict=True):
        wanted = np.array([state["time"], *state["qpos"], *state["qvel"]])
        assert row == pytest.approx(wanted, rel=1e-7, abs=1e-30)


def test_the_float64_form_has_every_bit_that_physics_needs(record: Record, environment: Environment) -> None:
    document = record("pick up the blue cylinder")
    model, table = environment.model, rows_of_replay(to_float64(document))
    assert table.shape == (step_count(document) + 1, 1 + model.nq + 2 * model.nv + 14 + 7 + model.ntree)
    rows, actions, asleep = np.split(table, [-model.ntree - 7, -model.ntree], axis=1)
    for index, row in enumerate(rows):
        state = state_at(document, index)
        wanted = [[state.time], state.qpos, state.qvel, state.qacc_warmstart, state.control]
        assert row.tobytes() == np.concatenate(wanted).tobytes()
        assert asleep[index].tolist() == state.asleep.tolist()
    assert actions[1:].tobytes() == actions_of(document).tobytes()
    assert not actions[0].any()


def test_a_document_that_lacks_a_state_has_no_float64_form(record: Record) -> None:
    document = record("pick up the blue cylinder")
    document["states"].pop()
    with pytest.raises(EpisodeFormatError, match="one more"):
        to_float64(document)


def test_fifty_restless_steps_stay_small_on_the_wire(record: Record) -> None:
    document = record("wave around", FakePolicy(restless))
    assert step_count(document) == 50
    assert len(gzip.compress(to_float32(document), 6)) < MOST_COMPRESSED


def test_a_cut_buffer_is_refused() -> None:
    with pytest.raises(EpisodeFormatError, match="308 bytes, got 100 bytes"):
        from_float32(b"\0" * 100, 40, 36)


def test_an_unfinished_recording_is_no_document(environment: Environment) -> None:
    recorder = Recorder()
    recorder.on_start(environment.state())
    with pytest.raises(EpisodeFormatError, match="finished recording"):
        build_document({}, recorder.recording, environment, "")
