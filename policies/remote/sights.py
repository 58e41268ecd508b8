"""What a server is shown: the arena's pictures and the arm's reading in the form that its policy was trained with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from policies.remote.poses import FRAMES, WRITERS, tool_rotation
from simulation.contracts import Floats, Image

FITS = ("pad", "stretch")
TURNS = (0, 90, 180, 270)


@dataclass(frozen=True)
class PictureForm:
    """A camera's picture under the name `key`: cropped, then turned, then resized.

    `crop`: the share of each side that is kept, around the middle. `turn`: degrees against the clock. `height`,
    `width`: pixels that are sent. `fit`: "pad" keeps the proportions and adds black, as openpi does; "stretch" does
    not.
    """

    key: str
    height: int
    width: int
    crop: float = 1.0
    turn: int = 0
    fit: str = "pad"

    def adapted(self, image: Image) -> Image:
        """uint8 (height, width, 3) of a picture of any size."""
        turned = np.rot90(_middle(image, self.crop), self.turn // 90)
        if turned.shape[:2] == (self.height, self.width):
            return np.ascontiguousarray(turned)
        return (
            _padded(turned, self.height, self.width) if self.fit == "pad" else _resized(turned, self.height, self.width)
        )


def _middle(image: Image, share: float) -> Image:
    height, width = (max(1, round(side * share)) for side in image.shape[:2])
    top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
    return image[top : top + height, left : left + width]


def _resized(image: Image, height: int, width: int) -> Image:
    picture = Pictures.fromarray(np.ascontiguousarray(image))
    return np.asarray(picture.resize((width, height), Pictures.Resampling.BILINEAR))


def _padded(image: Image, height: int, width: int) -> Image:
    """The whole picture in the middle of a black one."""
    ratio = max(image.shape[0] / height, image.shape[1] / width)
    inner = _resized(image, max(1, int(image.shape[0] / ratio)), max(1, int(image.shape[1] / ratio)))
    whole = np.zeros((height, width, 3), np.uint8)
    top, left = (height - inner.shape[0]) // 2, (width - inner.shape[1]) // 2
    whole[top : top + inner.shape[0], left : left + inner.shape[1]] = inner
    return whole


def _pose(felt: Floats, frame: str, rotation: str) -> Floats:
    """(6,): place [m] and rotation [rad]."""
    return np.concatenate([felt[:3], WRITERS[rotation](tool_rotation(felt) @ FRAMES[frame].T)])


def _opening(felt: Floats, frame: str) -> Floats:
    return felt[7:8]


PLAIN = "proprioception"
STATES: Mapping[str, Callable[[Floats, str], Floats]] = {
    PLAIN: lambda felt, frame: felt,
    "pose_euler": lambda felt, frame: _pose(felt, frame, "euler"),
    "pose_axis_angle": lambda felt, frame: _pose(felt, frame, "axis_angle"),
    "pose_euler_gripper": lambda felt, frame: np.append(_pose(felt, frame, "euler"), _opening(felt, frame)),
    "pose_axis_angle_gripper": lambda felt, frame: np.append(_pose(felt, frame, "axis_angle"), _opening(felt, frame)),
    "gripper": _opening,
}
"""Where a state comes from: the arm's reading as it is (8), the tool's pose (6), both pose and opening (7), or the
opening (1)."""


def state(source: str, felt: NDArray[np.float32], frame: str) -> NDArray[np.float32]:
    """float32 (n,), what the arm feels in the form `source` of STATES; rotations are counted from `frame`."""
    return STATES[source](np.asarray(felt, np.float64), frame).astype(np.float32)
