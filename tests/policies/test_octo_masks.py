"""Who may look at whom in Octo: each rule said again in words, by looking at single pairs of tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from policies.networks.octo import Octo, OctoObservation, OctoTask, attention_rules
from tests.policies.tiny_networks import IMAGES, tiny_octo

# One batch row, window 2: 6 task tokens, then per step 12 of the primary camera, 4 of the wrist's, 6 task, 2 readout.
TASK, STEP = 6, 12 + 4 + 6 + 2
OFFSETS = {"primary": 0, "wrist": 12, "repeated": 16, "readout": 22}


@pytest.fixture(scope="module")
def network() -> Octo:
    return tiny_octo()


def place(group: str, step: int = 0, index: int = 0) -> int:
    return index if group == "task" else TASK + step * STEP + OFFSETS[group] + index


def masks(
    network: Octo,
    shown: tuple[bool, bool] = (True, True),
    wrist: tuple[bool, bool] | None = None,
    given: bool = True,
) -> NDArray[np.bool_]:
    images = {key.removeprefix("image_"): torch.zeros(1, 2, *size, 3) for key, size in IMAGES.items()}
    flags = {} if wrist is None else {"wrist": torch.tensor([wrist])}
    task = OctoTask(torch.zeros(1, 6, 24), torch.tensor([given]))
    groups = network.token_groups(OctoObservation(images, torch.tensor([shown]), flags), task)
    mask: NDArray[np.bool_] = network.attention_mask(*groups)[0, 0].numpy()
    return mask


def test_task_tokens_see_task_tokens_and_nothing_else(network: Octo) -> None:
    rows = masks(network)[:TASK]
    assert rows[:, :TASK].all()
    assert not rows[:, TASK:].any()


@pytest.mark.parametrize("group", ["primary", "wrist", "repeated"])
def test_observations_see_the_task_and_observations_of_the_same_and_earlier_steps(network: Octo, group: str) -> None:
    mask = masks(network)
    for step in (0, 1):
        row = mask[place(group, step)]
        assert row[:TASK].all()
        for other in ("primary", "wrist", "repeated"):
            assert row[place(other, 0)]
            assert row[place(other, 1)] == (step == 1)


def test_nobody_but_itself_sees_a_readout(network: Octo) -> None:
    mask = masks(network)
    for step in (0, 1):
        column = mask[:, place("readout", step)].nonzero()[0]
        expected = [place("readout", later, index) for later in range(step, 2) for index in (0, 1)]
        assert column.tolist() == expected


def test_a_readout_sees_the_task_and_all_observations_up_to_its_step(network: Octo) -> None:
    mask = masks(network)
    assert mask[place("readout", 1)].all()
    first = mask[place("readout", 0)]
    assert first[: TASK + STEP].all()
    assert not first[TASK + STEP :].any()


def test_two_kinds_of_readout_do_not_see_each_other() -> None:
    rules = attention_rules((), (("obs_a", 1), ("readout_x", 1), ("readout_y", 1)), 1, True)
    assert rules.tolist() == [[True, False, False], [True, True, False], [True, False, True]]


def test_a_padded_frame_hides_its_pictures_but_not_its_repeated_task_tokens_or_readout(network: Octo) -> None:
    last = masks(network, shown=(False, True))[place("readout", 1)]
    assert not last[place("primary", 0) : place("repeated", 0)].any()
    assert last[place("repeated", 0) : place("primary", 1)].all()
    assert last[place("primary", 1) :].all()


def test_a_camera_switched_off_hides_its_tokens_in_those_frames_only(network: Octo) -> None:
    last = masks(network, wrist=(False, True))[place("readout", 1)]
    assert not last[place("wrist", 0) : place("repeated", 0)].any()
    assert last[place("wrist", 1) : place("repeated", 1)].all()
    assert last[place("primary", 0) : place("wrist", 0)].all()


def test_a_missing_instruction_hides_all_task_tokens_the_repeated_ones_too(network: Octo) -> None:
    mask = masks(network, given=False)
    assert not mask[:, :TASK].any()
    for step in (0, 1):
        assert not mask[:, place("repeated", step) : place("readout", step)].any()


def test_hidden_tokens_are_hidden_from_themselves_but_still_look(network: Octo) -> None:
    mask = masks(network, shown=(False, True))
    assert not mask[place("primary", 0), place("primary", 0)]
    assert mask[place("primary", 0), :TASK].all()


def test_an_absent_camera_has_no_tokens(network: Octo) -> None:
    observation = OctoObservation({"primary": torch.zeros(1, 1, 48, 64, 3)}, torch.ones(1, 1, dtype=torch.bool))
    prefix, timestep = network.token_groups(observation, OctoTask(torch.zeros(1, 6, 24)))
    assert [group.name for group in prefix] == ["task_language"]
    assert [group.name for group in timestep] == ["obs_primary", "obs_task_language", "readout_action"]
    assert network.attention_mask(prefix, timestep).shape == (1, 1, 26, 26)


def test_without_text_there_is_no_task_group_to_repeat(network: Octo) -> None:
    observation = OctoObservation({"primary": torch.zeros(1, 1, 48, 64, 3)}, torch.ones(1, 1, dtype=torch.bool))
    prefix, timestep = network.token_groups(observation, OctoTask(None))
    assert (prefix, [group.name for group in timestep]) == ([], ["obs_primary", "readout_action"])


def test_task_tokens_are_repeated_only_where_the_configuration_says_so() -> None:
    network = tiny_octo(repeat_task_tokens=False)
    observation = OctoObservation({"primary": torch.zeros(1, 1, 48, 64, 3)}, torch.ones(1, 1, dtype=torch.bool))
    _, timestep = network.token_groups(observation, OctoTask(torch.zeros(1, 6, 24)))
    assert [group.name for group in timestep] == ["obs_primary", "readout_action"]


def test_the_first_release_counts_the_first_token_of_a_group_to_the_group_before() -> None:
    groups = (("obs_a", 2), ("obs_b", 1), ("readout_x", 2))
    old, new = (attention_rules((("task_t", 2),), groups, 1, correct) for correct in (False, True))
    first_readout, second_readout = 5, 6
    assert not new[2, first_readout]
    assert old[2, first_readout]  # it passes for an observation
    assert not old[2, second_readout]
    assert not old[first_readout, second_readout]
    assert old[second_readout, first_readout]


def test_flags_for_padding_differ_from_row_to_row_of_a_batch(network: Octo) -> None:
    images = {"primary": torch.zeros(2, 2, 48, 64, 3)}
    shown = torch.tensor([[False, True], [True, True]])
    groups = network.token_groups(OctoObservation(images, shown), OctoTask(torch.zeros(2, 6, 24)))
    mask = network.attention_mask(*groups)
    assert mask.shape == (2, 1, 6 + 2 * 20, 6 + 2 * 20)
    assert not mask[0, 0, -1, 6]
    assert mask[1, 0, -1, 6]
