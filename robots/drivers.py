"""Policies as drivers of demonstrations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policies import memory
from policies.base import WrongEmbodiment
from policies.registry import describe, open_policy
from simulation.contracts import POLICY_CAMERA, CameraSpec
from simulation.driving import Driver


@dataclass(frozen=True)
class PolicyDriver:
    """Opens the policy of a folder, which drives parts of a `share` of the demonstrations."""

    folder: Path
    share: float

    @classmethod
    def of(cls, folder: Path, share: float, camera: CameraSpec = POLICY_CAMERA) -> PolicyDriver:
        """Raises a PolicyError for a policy that cannot drive: demonstrations hold the pictures of one camera."""
        if tuple(describe(folder).spec.cameras) != (camera,):
            raise WrongEmbodiment(f"{folder}: a driver sees the camera {camera.name} alone")
        return cls(folder, share)

    def __call__(self) -> Driver:
        memory.share_cores()
        actor = open_policy(self.folder)
        return Driver(actor, actor.spec.chunking, self.share, *actor.spec.cameras)

    def __str__(self) -> str:
        return f"{self.folder.name} {describe(self.folder).revision} drives in {self.share:g} of them"
