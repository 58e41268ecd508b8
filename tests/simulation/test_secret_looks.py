"""A secret varies how the scene looks, within what training shows, and changes nothing else."""

import secrets

import numpy as np
import pytest

from simulation import variation
from simulation.cameras import PROFILE_LENGTH, profile_of, render_profile
from simulation.environment import Environment, StateMismatch
from simulation.variation import COLOURS, NO_VARIATION, Variation, chance_of, variation_of
from simulation.verification import first_difference

SECRET, OTHER = "0123456789abcdef" * 2, "f" * 32


def test_a_secret_always_gives_the_same_looks_and_another_gives_others() -> None:
    assert variation_of(SECRET) == variation_of(SECRET)
    assert variation_of(SECRET) != variation_of(OTHER)
    drawn = np.array(variation_of(SECRET).camera_offset) / variation.CAMERA_M
    assert drawn == pytest.approx([0.52678736, -0.19099040, -0.30262968])


def test_without_a_secret_nothing_is_varied() -> None:
    assert variation_of("") == NO_VARIATION
    assert chance_of("", 17) == 17


def test_looks_stay_within_what_policies_were_trained_on() -> None:
    """The bounds are those of simulation.disturbance.draw_variation."""
    for _ in range(500):
        looks = variation_of(secrets.token_hex(16))
        assert np.abs(looks.camera_offset).max() <= 0.03
        assert np.abs(looks.camera_rotation).max() <= np.deg2rad(2.0)
        assert 0.5 <= looks.light_scale <= 1.2
        assert 0.55 * 0.93 <= min(looks.table_scale) <= max(looks.table_scale) <= 1.15 * 1.07
        assert (looks.shadows, looks.variant) == (False, "")
        assert set(looks.colours) == set(COLOURS)
        for name, colour in looks.colours.items():
            assert np.abs(np.subtract(colour, COLOURS[name])).max() <= 0.06
            assert 0.0 <= min(colour) <= max(colour) <= 1.0


def test_every_look_is_drawn_from_end_to_end() -> None:
    offsets = np.array([variation_of(f"{number:032x}").camera_offset for number in range(400)])
    assert offsets.min() < -0.95 * variation.CAMERA_M
    assert offsets.max() > 0.95 * variation.CAMERA_M
    assert np.abs(offsets.mean(axis=0)).max() < 0.1 * variation.CAMERA_M


def test_the_policies_chance_needs_the_secret_and_the_seed() -> None:
    drawn = {chance_of(secret, seed) for secret in (SECRET, OTHER) for seed in (0, 1)}
    assert len(drawn) == 4
    assert all(0 <= each < 2**31 for each in drawn)


def test_the_looks_show_and_the_start_is_the_same(environment: Environment) -> None:
    plain = environment.reset(5, NO_VARIATION)
    before = environment.picture()
    varied = environment.reset(5, variation_of(SECRET))
    assert first_difference(plain, varied) is None
    assert np.abs(before.astype(int) - environment.picture()).mean() > 1.0
    environment.set_variation(NO_VARIATION)
    assert np.array_equal(environment.picture(), before)


def test_looks_with_other_objects_need_another_environment(environment: Environment) -> None:
    with pytest.raises(StateMismatch):
        environment.set_variation(Variation(variant="fifth_object"))


def test_an_episode_can_keep_the_looks() -> None:
    kept = variation_of(SECRET).to_json()
    assert kept["camera_offset"] == list(variation_of(SECRET).camera_offset)
    assert kept["colours"]["red_cube"] == list(variation_of(SECRET).colours["red_cube"])
    assert NO_VARIATION.to_json()["colours"] == {}


def test_the_profile_says_what_really_renders() -> None:
    told = render_profile()
    assert told.startswith("look-1 osmesa; llvmpipe")
    assert "Mesa" in told
    assert len(told) <= PROFILE_LENGTH


def test_profiles_that_are_too_long_stay_different() -> None:
    one, other = (profile_of("egl", "NVIDIA H100 80GB HBM3/PCIe/SSE2 " * 5, version) for version in ("4.6", "4.7"))
    assert len(one) == len(other) == PROFILE_LENGTH
    assert one != other
