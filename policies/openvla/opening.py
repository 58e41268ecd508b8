"""Opening an OpenVLA folder: without torch where that gives the same, with it anywhere else."""

from __future__ import annotations

from pathlib import Path

from policies.base import OpenedPolicy, PolicyCard
from policies.exported import open_exported
from policies.openvla.exported import open_exported_openvla


def open_openvla(folder: Path, card: PolicyCard, device: str | None) -> OpenedPolicy:
    """Open a folder whose card has been read; raises a PolicyError naming what is at fault."""
    if (policy := open_exported(folder, card, device, open_exported_openvla)) is not None:
        return policy
    from policies.openvla import policy as with_torch

    return with_torch.open_openvla(folder, card, device)
