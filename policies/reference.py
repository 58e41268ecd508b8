"""What torch answers for a policy's own made-up observations, kept in its folder, so that what computes the network in
another way can be compared where torch is not loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from policies.base import OpenedPolicy, PolicySpec
from policies.folder import REFERENCE, read_json, write_json, write_sums
from policies.registry import describe
from simulation.contracts import PROPRIOCEPTION_DIM, CameraSpec, Observation

INSTRUCTION = "put the red cube on the left plate"
LOOKS = 3
TOLERANCE = 1e-4  # m, rad


def answers(policy: OpenedPolicy) -> NDArray[np.float64]:
    """Its chunks for the made-up observations, (LOOKS, chunk, 7)."""
    policy.reset(INSTRUCTION, 0)
    return np.array([policy.infer(look) for look in _looks(policy.spec)])


def agrees(policy: OpenedPolicy, folder: Path) -> bool:
    """Whether the policy answers what torch did when the folder was made. Forgets what it saw."""
    expected, found = np.array(read_json(folder, REFERENCE)["actions"]), answers(policy)
    policy.reset("", 0)
    return expected.shape == found.shape and bool(np.abs(expected - found).max() <= TOLERANCE)


def write_reference(folder: Path) -> None:
    """Let torch answer, write it into the folder, and renew its SHA256SUMS."""
    actions = answers(open_with_torch(folder))
    write_json(folder / REFERENCE, {"actions": actions.round(7).tolist()})
    write_sums(folder)


def open_with_torch(folder: Path, device: str = "cpu") -> OpenedPolicy:
    """A folder as torch plays it, whatever else could."""
    card = describe(folder)
    module = import_module(f"policies.{card.spec.family}.policy")
    return cast(OpenedPolicy, getattr(module, f"open_{card.spec.family}")(folder, card, device))


def _looks(spec: PolicySpec) -> Iterator[Observation]:
    """Pictures of the same made-up numbers everywhere, each unlike the one before."""
    for look in range(LOOKS):
        pictures = {camera.name: _picture(camera, look) for camera in spec.cameras}
        yield Observation(pictures, np.full(PROPRIOCEPTION_DIM, 0.1 * look, np.float32), INSTRUCTION, look)


def _picture(camera: CameraSpec, look: int) -> NDArray[np.uint8]:
    count = np.arange(camera.height * camera.width * 3).reshape(camera.height, camera.width, 3)
    return (count * (7919 + 2 * look) % 251).astype(np.uint8)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_reference(Path(name))
