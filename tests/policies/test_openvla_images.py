"""Pixel values come from the checkpoint's own constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from policies.base import BadCard
from policies.openvla.images import crop_area, read_transform
from tests.policies.tiny_networks import SIDE, preprocessor_json

PLAIN = {key: value for key, value in preprocessor_json().items() if not key.startswith("tvf_")}
GREY = np.full((SIDE, SIDE, 3), 100, np.uint8)


def test_the_constants_of_the_steps_win_over_the_plain_ones() -> None:
    found = torch.from_numpy(read_transform(preprocessor_json())(GREY)[:3, 0, 0])
    expected = (torch.tensor(100 / 255) - torch.tensor([0.484375, 0.455078125, 0.40625])) / torch.tensor(
        [0.228515625, 0.2236328125, 0.224609375]
    )
    torch.testing.assert_close(found, expected)


def test_plain_constants_serve_where_the_steps_are_not_given() -> None:
    found = read_transform(PLAIN)(GREY)[:, 0, 0]
    constants = zip([0.485, 0.456, 0.406], [0.229, 0.224, 0.225], strict=True)
    expected = [(100 / 255 - mean) / deviation for mean, deviation in constants]
    assert found.tolist() == pytest.approx([*expected, *[100 / 127.5 - 1] * 3], abs=1e-6)


def test_naive_resizing_is_bicubic_and_does_not_keep_the_sides_proportions() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (20, 60, 3), dtype=np.uint8)
    resized = np.asarray(Image.fromarray(picture).resize((SIDE, SIDE), Image.Resampling.BICUBIC))
    found = (read_transform(PLAIN)(picture)[3:] + 1) * 127.5
    assert np.abs(found.transpose(1, 2, 0) - resized).max() < 1e-4


def test_each_tower_has_its_own_normalisation_of_the_same_picture() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    pixels = read_transform(PLAIN)(picture)
    assert pixels.shape == (6, SIDE, SIDE)
    assert pixels[0] * 0.229 + 0.485 == pytest.approx(pixels[3] * 0.5 + 0.5, abs=1e-6)


def test_a_centre_crop_keeps_the_area_asked_for_and_the_middle_of_the_picture() -> None:
    size = 224
    ramp = np.repeat(np.linspace(0, 255, size)[None, :, None], size, 0).repeat(3, 2).astype(np.uint8)
    cropped = crop_area(ramp, 0.9, (size, size)).astype(float)
    side = (cropped[0, -1, 0] - cropped[0, 0, 0]) / 255
    assert side == pytest.approx(np.sqrt(0.9), abs=0.01)
    assert cropped[:, :, 0].mean() == pytest.approx(127.5, abs=1.5)


def test_a_crop_of_the_whole_area_changes_nothing() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    assert (crop_area(picture, 1.0, (SIDE, SIDE)) == picture).all()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({**PLAIN, "image_resize_strategy": "stretch"}, "stretch"),
        ({key: value for key, value in PLAIN.items() if key != "means"}, "means"),
        ({**PLAIN, "interpolations": ["guess", "guess"]}, "guess"),
        ({**PLAIN, "input_sizes": [3]}, "preprocessor_config.json"),
    ],
)
def test_an_unusable_preprocessor_file_is_refused_by_field(data: dict[str, Any], words: str) -> None:
    with pytest.raises(BadCard, match=words):
        read_transform(data)


def test_a_crop_of_no_sense_is_refused() -> None:
    with pytest.raises(BadCard, match="centre_crop"):
        read_transform(PLAIN, centre_crop=1.5)
