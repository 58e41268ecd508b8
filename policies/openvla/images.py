"""Preparing a camera picture for OpenVLA with the constants of the checkpoint's preprocessor_config.json.

The published file holds each step's parameters (`tvf_*`), computed in bfloat16 when the checkpoint was converted. Its
means and deviations differ from ImageNet's, but they are those that the network is used with, so they take precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from policies.base import BadCard
from simulation.contracts import Image as Picture

STRATEGIES = ("resize-naive", "resize-crop", "letterbox")
_PIL = {filter_.name.lower(): filter_.value for filter_ in Image.Resampling}


@dataclass(frozen=True)
class TowerTransform:
    """The transform for one tower. `resize`: (height, width), or the length of the shorter side."""

    resize: tuple[int, int] | int
    filter: int  # PIL's number
    crop: tuple[int, int]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]


@dataclass(frozen=True)
class ImageTransform:
    """`letterbox`: RGB of the borders to a square. `centre_crop`: the area to keep, as some fine-tunes do."""

    views: tuple[TowerTransform, ...]
    letterbox: tuple[int, ...] | None = None
    centre_crop: float | None = None

    def __call__(self, picture: Picture) -> NDArray[np.float32]:
        """uint8 RGB (H, W, 3) -> float32 (3 per view, height, width)."""
        if self.centre_crop is not None:
            picture = crop_area(picture, self.centre_crop, self.views[0].crop)
        image = Image.fromarray(picture)
        if self.letterbox is not None:
            image = _letterbox(image, self.letterbox)
        return np.concatenate([_view(image, view) for view in self.views])


def read_transform(data: Mapping[str, Any], centre_crop: float | None = None) -> ImageTransform:
    """The content of preprocessor_config.json. Raises BadCard naming what is missing or unknown."""
    strategy = data.get("image_resize_strategy", "letterbox")
    if strategy not in STRATEGIES:
        raise BadCard(f"preprocessor_config.json: unknown image_resize_strategy {strategy!r}; known: {STRATEGIES}")
    if centre_crop is not None and not 0 < centre_crop <= 1:
        raise BadCard(f"centre_crop: expected an area in (0, 1], got {centre_crop}")
    try:
        views = tuple(_read_view(data, index, strategy) for index in range(len(data["input_sizes"])))
        fill = _fill(data) if strategy == "letterbox" else None
    except KeyError as error:
        raise BadCard(f"preprocessor_config.json: {error.args[0]!r} is missing or unknown") from None
    except (AttributeError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise BadCard(f"preprocessor_config.json: {error}") from None
    return ImageTransform(views, fill, centre_crop)


def _fill(data: Mapping[str, Any]) -> tuple[int, ...]:
    """The colour of the borders: as given, else the last tower's mean."""
    return tuple(data.get("tvf_letterbox_fill") or (int(value * 255) for value in data["means"][-1]))


def _read_view(data: Mapping[str, Any], index: int, strategy: str) -> TowerTransform:
    """Per-step parameters where the file has them, else the plain fields."""
    _, height, width = data["input_sizes"][index]
    resizing = data["tvf_resize_params"][index] if "tvf_resize_params" in data else {}
    scaling = data["tvf_normalize_params"][index] if "tvf_normalize_params" in data else {}
    cropping = data["tvf_crop_params"][index] if "tvf_crop_params" in data else {}
    size = resizing.get("size", (height, width) if strategy == "resize-naive" else width)
    crop = cropping.get("output_size", (height, width))
    filter_ = resizing["interpolation"] if resizing else _PIL[data["interpolations"][index]]
    return TowerTransform(
        resize=size if isinstance(size, int) else (int(size[0]), int(size[1])),
        filter=int(filter_),
        crop=(crop, crop) if isinstance(crop, int) else (int(crop[0]), int(crop[1])),
        mean=tuple(scaling.get("mean") or data["means"][index]),
        deviation=tuple(scaling.get("std") or data["stds"][index]),
    )


def _view(image: Image.Image, view: TowerTransform) -> NDArray[np.float32]:
    width, height = image.size
    if isinstance(view.resize, int):
        short = min(width, height)
        target = (int(view.resize * height / short), int(view.resize * width / short))
    else:
        target = view.resize
    resized = image if target == (height, width) else image.resize(target[::-1], Image.Resampling(view.filter))
    top, left = round((target[0] - view.crop[0]) / 2), round((target[1] - view.crop[1]) / 2)
    cropped = np.asarray(resized)[top : top + view.crop[0], left : left + view.crop[1]]
    pixels = np.ascontiguousarray(cropped.transpose(2, 0, 1), np.float32) / np.float32(255)
    mean, deviation = (np.array(each, np.float32)[:, None, None] for each in (view.mean, view.deviation))
    found: NDArray[np.float32] = (pixels - mean) / deviation
    return found


def _letterbox(image: Image.Image, fill: tuple[int, ...]) -> Image.Image:
    """Equal borders on both sides of the shorter direction, rounded down."""
    side = max(image.size)
    border = [(side - length) // 2 for length in image.size]
    return ImageOps.expand(image, (border[0], border[1]), fill)


def crop_area(picture: Picture, area: float, size: tuple[int, int]) -> Picture:
    """The middle `area` of a picture at `size`, sampled bilinearly without smoothing, as in the training of fine-tunes.

    The corners of the crop are the corner samples of the result (TensorFlow's crop_and_resize).
    """
    values: NDArray[Any] = picture / 255
    for axis, wanted in enumerate(size):
        last = picture.shape[axis] - 1
        places = np.linspace((1 - np.sqrt(area)) / 2 * last, (1 + np.sqrt(area)) / 2 * last, wanted)
        low = np.floor(places).astype(int)
        high = np.minimum(low + 1, values.shape[axis] - 1)
        share = (places - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        values = np.take(values, low, axis) * (1 - share) + np.take(values, high, axis) * share
    cropped: Picture = np.floor(np.clip(values, 0, 1) * 255.5).astype(np.uint8)
    return cropped
