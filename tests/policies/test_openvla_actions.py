"""Action tokens and un-normalisation: a shift by one bin or one padded row gives wrong motions without any error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from policies.base import MissingStatistics
from policies.openvla.actions import ActionTokens, QuantileScale
from policies.openvla.config import read_config
from policies.statistics import choose
from tests.policies.test_openvla_tensors import PUBLISHED
from tests.policies.tiny_networks import BRIDGE


@pytest.fixture(scope="module")
def tokens() -> ActionTokens:
    return ActionTokens(read_config(PUBLISHED))


@pytest.mark.parametrize(
    ("token", "centre"),
    [
        (31999, -1 + 1 / 255),  # the highest id is the lowest interval
        (31998, -1 + 3 / 255),
        (31872, 0.0),  # the middle one
        (31746, 1 - 3 / 255),
        (31745, 1 - 1 / 255),
        (31744, 1 - 1 / 255),  # as the id before: there is one interval fewer than edges
        (32063, -1 + 1 / 255),  # outside of the action ids: the nearest end
        (0, 1 - 1 / 255),
    ],
)
def test_each_id_means_the_centre_of_its_interval(tokens: ActionTokens, token: int, centre: float) -> None:
    assert tokens.decode(np.array([token]))[0] == pytest.approx(centre, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "token"), [(-1.0, 31999), (-5.0, 31999), (1.0, 31744), (5.0, 31744), (0.999, 31745), (0.0, 31872)]
)
def test_values_are_clipped_and_counted_from_the_end_of_the_vocabulary(
    tokens: ActionTokens, value: float, token: int
) -> None:
    assert tokens.encode(np.array([value]))[0] == token


def test_decoding_what_was_encoded_is_right_to_half_an_interval(tokens: ActionTokens) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 10_000)
    ids = tokens.encode(values)
    assert ids.min() >= 31744
    assert ids.max() <= 31999
    assert np.abs(tokens.decode(ids) - values).max() <= 1 / 255 + 1e-12


def test_encoding_what_was_decoded_gives_the_id_again_except_at_the_top(tokens: ActionTokens) -> None:
    ids = np.arange(31745, 32000)
    assert (tokens.encode(tokens.decode(ids)) == ids).all()
    assert tokens.encode(tokens.decode(np.array([31744])))[0] == 31745


def test_the_ends_of_the_range_are_the_quantiles_and_not_the_extremes() -> None:
    scale = QuantileScale.from_statistics(BRIDGE)
    ends = scale.unnormalise(np.array([-np.ones(7), np.ones(7)]))
    assert ends[0, :6] == pytest.approx(BRIDGE["q01"][:6])
    assert ends[1, :6] == pytest.approx(BRIDGE["q99"][:6])


@pytest.mark.parametrize("value", [0.0, 0.37, 0.996])
def test_the_masked_gripper_passes_as_it_is(value: float) -> None:
    action = np.array([0.0] * 6 + [value])
    assert QuantileScale.from_statistics(BRIDGE).unnormalise(action)[6] == value


def test_without_a_mask_everything_is_scaled() -> None:
    action = {key: value for key, value in BRIDGE.items() if key != "mask"}
    assert QuantileScale.from_statistics(action).unnormalise(np.zeros(7))[6] == pytest.approx(0.5)


def test_normalising_undoes_un_normalising() -> None:
    scale = QuantileScale.from_statistics(BRIDGE)
    action = np.random.default_rng(0).uniform(-1, 1, (20, 7))
    assert scale.normalise(scale.unnormalise(action)) == pytest.approx(action)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q01": [0.0] * 6}, "q01 must be 7"),
        ({"q99": [float("nan")] * 7}, "q99 must be 7 finite"),
        ({"mask": [1] * 7}, "mask must be 7"),
    ],
)
def test_statistics_that_do_not_fit_are_refused_by_name(change: dict[str, Any], words: str) -> None:
    with pytest.raises(MissingStatistics, match=words):
        QuantileScale.from_statistics(BRIDGE | change)


def test_the_asked_data_set_is_taken_else_the_default_else_the_only_one() -> None:
    one, two = {"action": {"q01": 1}}, {"action": {"q01": 2}}
    assert choose({"bridge_orig": one, "kitchen": two}, "kitchen", "bridge_orig") == ("kitchen", two["action"])
    assert choose({"bridge_orig": one, "kitchen": two}, None, "bridge_orig") == ("bridge_orig", one["action"])
    assert choose({"kitchen": two}, None, "bridge_orig") == ("kitchen", two["action"])


def test_a_data_set_that_is_not_there_lists_those_that_are() -> None:
    content = {"kitchen": {"action": {}}, "lab": {"action": {}}}
    for asked in ("moon", None):
        with pytest.raises(MissingStatistics, match="known: kitchen, lab"):
            choose(content, asked, "bridge_orig")
