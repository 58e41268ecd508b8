"""The classifier itself: it finds what there is to find, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tests.blind.naming import name

MODELS = ("base", "early", "mute", "octo", "openvla")


def sides_and_names(battles: int, leak: float, seed: int) -> tuple[list[dict[str, float]], dict[str, list[str]]]:
    """Sides of battles between unlike pairs; one of twelve features tells the model, as far as `leak` goes."""
    rng = np.random.default_rng(seed)
    chance = np.array([0.4, 0.25, 0.15, 0.1, 0.1])  # some meet more often than others
    models = [int(model) for _ in range(battles) for model in rng.choice(5, 2, replace=False, p=chance)]
    noise = rng.normal(size=(len(models), 12))
    noise[:, 3] += leak * np.array(models)
    noise[0::2, 5] = noise[1::2, 5]  # what both sides share tells nothing of one of them
    sides = [{f"feature {place}": float(value) for place, value in enumerate(row)} for row in noise]
    return sides, {"model": [MODELS[model] for model in models]}


@pytest.mark.parametrize("seed", range(3))
def test_a_leak_of_the_size_of_its_noise_is_found_in_sixty_battles(seed: int) -> None:
    sides, targets = sides_and_names(60, leak=1.0, seed=seed)
    found = name(sides, targets, deals=199)
    assert found.p <= 0.01
    assert found.right["model"] > found.chance["model"] + 0.1


def test_without_a_leak_small_p_are_as_rare_as_they_say() -> None:
    p = [name(*sides_and_names(30, leak=0.0, seed=seed), deals=39).p for seed in range(60)]
    assert sum(value <= 0.1 for value in p) <= 14  # 6 expected; more than 14 once in a thousand runs
    assert sum(value <= 0.5 for value in p) >= 17  # 30 expected


def test_features_that_never_vary_name_nobody() -> None:
    _, targets = sides_and_names(20, leak=0.0, seed=1)
    found = name([{"bytes": 21.0}] * 40, targets, deals=39)
    assert found.p > 0.02


def test_what_is_known_to_tell_is_no_leak_and_what_tells_beyond_it_is_one() -> None:
    sides, targets = sides_and_names(80, leak=0.0, seed=2)
    models = [MODELS.index(who) for who in targets["model"]]
    ends = [float(max(pair) > 1) + (min(pair) > 0) for pair in zip(models[::2], models[1::2], strict=True)]
    told = [side | {"bytes": ends[place // 2]} for place, side in enumerate(sides)]
    assert name(told, targets, deals=99).p <= 0.02
    assert name(told, targets, deals=99, known=ends).p > 0.02
    more = [side | {"late": float(who)} for side, who in zip(told, models, strict=True)]
    assert name(more, targets, deals=99, known=ends).p <= 0.01
