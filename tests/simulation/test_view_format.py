"""What can be seen of an episode before the vote: rounded rows, 25 a second, of which physics cannot be repeated."""

import gzip
import json

import numpy as np
import pytest

from simulation.environment import Environment
from simulation.episode_format import state_at, step_count
from simulation.view_format import (
    ANGLE_RAD,
    LENGTH_M,
    QUATERNION,
    ROWS_PER_CHUNK,
    ViewFormatError,
    between_records,
    pack,
    rounded_states,
    unpack,
    until,
    view_of,
)
from tests.simulation.conftest import Record
from tests.simulation.fakes import FakePolicy
from tests.simulation.test_episode_format import restless

MOST_BYTES = 21_000
NQ = 40


def test_lengths_angles_and_quaternions_have_units_of_their_own(environment: Environment) -> None:
    scale, model = environment.world.view_scale, environment.model
    assert scale.shape == (NQ,)
    waist, finger = (int(model.joint(f"w/{name}").qposadr[0]) for name in ("waist", "left_finger"))
    cube, plate = int(model.joint("red_cube").qposadr[0]), int(model.joint("left_plate_x").qposadr[0])
    assert scale[waist] == ANGLE_RAD == pytest.approx(np.deg2rad(0.1))
    assert (scale[finger], scale[plate]) == (LENGTH_M, LENGTH_M)
    assert scale[cube : cube + 7].tolist() == [LENGTH_M] * 3 + [QUATERNION] * 4


def test_a_recording_has_a_row_every_40_ms_that_is_physics_own_rounded(record: Record) -> None:
    document = record("pick up the red cube")
    content, scale = view_of(document)
    rows = unpack(content, NQ)
    assert rows.shape == (5 * step_count(document) + 1, NQ)
    for step in range(step_count(document) + 1):
        exact = state_at(document, step).qpos
        assert np.array_equal(rows[5 * step], np.rint(exact / scale).astype(int)), step
        assert np.abs(rows[5 * step] * scale - exact).max() <= scale.max() / 2 + 1e-12


def test_the_rows_between_two_records_are_those_through_which_physics_went(environment: Environment) -> None:
    before = environment.state().qpos
    action = np.array([0.03, 0.02, -0.02, 0.0, 0.0, 0.3, 0.0])
    between = environment.step(action).between
    assert between.shape == (ROWS_PER_CHUNK, NQ)
    assert between[-1].tobytes() == environment.state().qpos.tobytes()
    straight = between_records(np.stack([before, environment.state().qpos]))[1:]
    assert 1e-4 < np.abs(between - straight).max() < 0.1
    ways = np.abs(np.diff(np.vstack([before, between]), axis=0)).max(axis=1)
    assert (ways > 0).all()


def test_an_episode_from_before_there_were_views_is_shown_with_straight_lines(
    record: Record, environment: Environment
) -> None:
    document = record("pick up the red cube")
    for name in ("view", "view_hz", "view_scale"):
        del document[name]
    scale = environment.world.view_scale
    rows = unpack(view_of(document, scale.tolist())[0], NQ)
    one, other = (np.array(document["states"][step]["qpos"]) for step in (3, 4))
    assert rows.shape == (5 * step_count(document) + 1, NQ)
    assert np.array_equal(rows[15], np.rint(one / scale).astype(int))
    assert np.array_equal(rows[17], np.rint((one + 0.4 * (other - one)) / scale).astype(int))


def test_what_ended_earlier_stays_where_it_ended() -> None:
    rows = np.arange(6, dtype="<i2").repeat(2).reshape(6, 2)
    longer = unpack(until(3, rows.tobytes(), 2), 2)
    assert longer.shape == (16, 2)
    assert np.array_equal(longer[:6], rows)
    assert (longer[6:] == rows[-1]).all()
    assert until(1, rows.tobytes(), 2) == rows.tobytes()


def test_a_view_of_fifty_restless_steps_has_at_most_21_kilobytes(record: Record) -> None:
    content, scale = view_of(record("wave around", FakePolicy(restless)))
    assert len(content) == 251 * NQ * 2 < MOST_BYTES
    told = json.dumps(rounded_states(content, scale)).encode()
    assert len(gzip.compress(told, 6)) < 40_000


def test_states_told_in_json_are_the_rows_with_four_decimals_and_without_velocities(record: Record) -> None:
    content, scale = view_of(record("pick up the red cube"))
    states = rounded_states(content, scale)
    assert [state["time"] for state in states[:3]] == [0.0, 0.04, 0.08]
    assert {tuple(state["qvel"]) for state in states} == {()}
    told = np.array([state["qpos"] for state in states])
    assert np.abs(told - unpack(content, NQ) * scale).max() <= 0.00005 + 1e-12
    assert "-0.0," not in json.dumps(states)


def test_positions_far_out_are_cut_and_not_wrapped() -> None:
    rows = unpack(pack(np.array([[100.0, -100.0]]), np.array([LENGTH_M, LENGTH_M])), 2)
    assert rows.tolist() == [[32767, -32767]]


@pytest.mark.parametrize("content", [b"", b"\0" * 7])
def test_a_cut_view_is_refused(content: bytes) -> None:
    with pytest.raises(ViewFormatError, match="rows of 4 bytes"):
        unpack(content, 2)


def test_positions_of_another_scene_are_refused() -> None:
    with pytest.raises(ViewFormatError, match="rows of 3 positions"):
        pack(np.zeros((2, 4)), np.ones(3))
