"""The turn is a distribution over bins, so that two right answers are not averaged into a wrong one."""

from __future__ import annotations

import pytest
import torch

from policies.film.losses import BIN_RANGE, bin_centres, bin_target, decode_bins

BINS = 21


@pytest.mark.parametrize("value", [-1.0, -0.333, 0.0, 0.02, 0.7, BIN_RANGE])
def test_a_target_decodes_to_its_own_value(value: float) -> None:
    target = bin_target(torch.tensor([value]), BINS)
    assert target.sum() == pytest.approx(1)
    assert float(decode_bins((target + 1e-12).log())[0]) == pytest.approx(value, abs=1e-4)


def test_values_past_the_range_take_its_end() -> None:
    assert torch.equal(bin_target(torch.tensor([9.0]), BINS), bin_target(torch.tensor([BIN_RANGE]), BINS))


def test_two_equally_good_answers_are_not_averaged() -> None:
    odds = torch.full((1, BINS), 1e-6)
    odds[0, 3], odds[0, 17] = 0.49, 0.51
    assert float(decode_bins(odds.log())[0]) == pytest.approx(float(bin_centres(BINS)[17]), abs=1e-3)
