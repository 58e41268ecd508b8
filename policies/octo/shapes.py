"""The sizes of an Octo checkpoint's pictures and its number of frames, which its example batch has, not its config.

Needs no torch, because a policy's card is read before any weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

from policies.base import MAX_SIDE, BadCard
from policies.folder import read_bytes

EXAMPLE = "example_batch.msgpack"
MOST_FRAMES = 1000
_LIMITS = {"max_array_len": 4096, "max_map_len": 4096}  # what a header may claim before its content is seen


@dataclass(frozen=True)
class InputShapes:
    """`images`: observation key -> (height, width). `window`: frames."""

    images: Mapping[str, tuple[int, int]]
    window: int

    def to_json(self) -> dict[str, Any]:
        return {"image_sizes": {key: list(size) for key, size in self.images.items()}, "window_size": self.window}


def read_shapes(folder: Path, config: Mapping[str, Any]) -> InputShapes:
    """From `image_sizes` in config.json, as in a converted folder, else the example batch, else the training set-up."""
    if "image_sizes" in config:
        return _checked(config["image_sizes"], config.get("window_size"))
    if (folder / EXAMPLE).is_file():
        return _from_example(folder)
    try:
        sizes = config["dataset_kwargs"]["frame_transform_kwargs"]["resize_size"]
        named = {f"image_{name}": size for name, size in sizes.items()}
    except (KeyError, TypeError, AttributeError):
        raise BadCard(f"{folder}: neither {EXAMPLE} nor config.json says how large the pictures are") from None
    return _checked(named, config.get("window_size"))


def _from_example(folder: Path) -> InputShapes:
    content = read_bytes(folder, EXAMPLE)
    try:
        batch = msgpack.unpackb(content, ext_hook=_shape, strict_map_key=False, **_LIMITS)
        seen = batch["observation"]
        frames = seen["timestep_pad_mask" if "timestep_pad_mask" in seen else "pad_mask"][1]
        sizes = {key: shape[2:4] for key, shape in seen.items() if key.startswith("image_")}
    except (ValueError, LookupError, TypeError, AttributeError, msgpack.UnpackException) as error:
        raise BadCard(f"{folder / EXAMPLE}: not an example batch: {error!r}") from None
    return _checked(sizes, frames)


def _shape(kind: int, content: bytes) -> Any:
    """The shape of an array, which is an extension of type 1 around (shape, dtype, bytes)."""
    return tuple(msgpack.unpackb(content, **_LIMITS)[0]) if kind == 1 else None


def _checked(sizes: Mapping[str, Any], window: Any) -> InputShapes:
    try:
        images = {key: (int(size[0]), int(size[1])) for key, size in sizes.items()}
        shapes = InputShapes(images, int(window))
    except (AttributeError, TypeError, ValueError, LookupError, OverflowError):
        raise BadCard(f"picture sizes {sizes!r} or window {window!r} are not as expected") from None
    if not all(1 <= side <= MAX_SIDE for size in images.values() for side in size):
        raise BadCard(f"picture sizes {sizes!r}: expected 1..{MAX_SIDE} pixels")
    if not 1 <= shapes.window <= MOST_FRAMES:
        raise BadCard(f"a window of {window!r} frames: expected 1..{MOST_FRAMES}")
    return shapes
