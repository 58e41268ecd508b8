"""What an Octo network sees and answers in its own units: pictures at its size, actions about 0 with deviation 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from policies.networks.octo_sizes import CameraConfig
from policies.statistics import mask, vector
from simulation.contracts import ACTION_DIM, Floats
from simulation.contracts import Image as Picture


@dataclass(frozen=True)
class StandardScale:
    """Mean and deviation of the unmasked dimensions. A masked one is not scaled."""

    mean: Floats
    deviation: Floats
    mask: NDArray[np.bool_]

    @classmethod
    def from_statistics(cls, action: Mapping[str, Any], length: int = ACTION_DIM) -> StandardScale:
        return cls(vector(action, "mean", length), vector(action, "std", length), mask(action, length))

    def unnormalise(self, actions: Floats) -> Floats:
        """(..., 7) normalised -> (..., 7) in m, rad; the gripper is masked and stays."""
        return np.where(self.mask, actions * self.deviation + self.mean, actions)

    def normalise(self, actions: Floats) -> Floats:
        """The inverse, for training."""
        return np.where(self.mask, (actions - self.mean) / (self.deviation + 1e-8), actions)


def fit(picture: Picture, camera: CameraConfig) -> Picture:
    """A picture at the size that the camera's tokenizer takes, smoothed with Lanczos as the training data was."""
    if picture.shape[:2] == (camera.height, camera.width):
        return picture
    return np.asarray(Image.fromarray(picture).resize((camera.width, camera.height), Image.Resampling.LANCZOS))
