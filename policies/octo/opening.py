"""Opening an Octo folder: without torch where that gives the same, with it anywhere else."""

from __future__ import annotations

from pathlib import Path

from policies.base import OpenedPolicy, PolicyCard
from policies.exported import open_exported
from policies.octo.exported import open_exported_octo


def open_octo(folder: Path, card: PolicyCard, device: str | None) -> OpenedPolicy:
    """Open a folder whose card has been read; raises a PolicyError naming what is at fault."""
    if (policy := open_exported(folder, card, device, open_exported_octo)) is not None:
        return policy
    from policies.octo import policy as with_torch

    return with_torch.open_octo(folder, card, device)
