"""A turn is a distribution over bins, and a move may be: two right answers are not averaged into a wrong one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from policies.film.decoding import decode_bins
from policies.film.losses import bin_target
from policies.film.sizes import BIN_RANGE

BINS = 21
CENTRES = np.linspace(-BIN_RANGE, BIN_RANGE, BINS)


@pytest.mark.parametrize("value", [-1.0, -0.333, 0.0, 0.02, 0.7, BIN_RANGE])
def test_a_target_decodes_to_its_own_value(value: float) -> None:
    target = bin_target(torch.tensor([value]), BINS)
    assert target.sum() == pytest.approx(1)
    assert decode_bins((target + 1e-12).log().numpy())[0] == pytest.approx(value, abs=1e-4)


def test_values_past_the_range_take_its_end() -> None:
    assert torch.equal(bin_target(torch.tensor([9.0]), BINS), bin_target(torch.tensor([BIN_RANGE]), BINS))


def two_answers() -> np.ndarray:
    """Logits (1, BINS): the fourth bin from the left 0.49, the fourth from the right 0.51."""
    odds = np.full((1, BINS), 1e-6, np.float32)
    odds[0, 3], odds[0, 17] = 0.49, 0.51
    return np.log(odds)


def test_two_equally_good_answers_are_not_averaged() -> None:
    assert decode_bins(two_answers())[0] == pytest.approx(CENTRES[17], abs=1e-3)


def test_numbers_draw_either_of_them_as_often_as_it_is_likely() -> None:
    numbers = np.random.default_rng(0).random(4000)
    found = decode_bins(np.repeat(two_answers(), 4000, 0), numbers)
    left, right = (np.isclose(found, CENTRES[place], atol=1e-3) for place in (3, 17))
    assert (left | right).all()
    assert left.mean() == pytest.approx(0.49, abs=0.03)


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_every_number_draws_a_bin(number: float) -> None:
    assert abs(decode_bins(two_answers(), np.array([number]))[0]) <= BIN_RANGE
