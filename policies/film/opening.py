"""Opening a FiLM folder: without torch where that gives the same, with it anywhere else."""

from __future__ import annotations

from pathlib import Path

from policies.base import OpenedPolicy, PolicyCard
from policies.folder import STATISTICS, TOKENIZER, WEIGHTS, check_sums
from policies.registry import needs_torch


def open_film(folder: Path, card: PolicyCard, device: str | None) -> OpenedPolicy:
    """Open a folder whose card has been read; every needed file must be listed in SHA256SUMS."""
    check_sums(folder, required=(WEIGHTS, STATISTICS, TOKENIZER))
    if not needs_torch(folder, device):
        from policies.film.exported import open_exported

        if (policy := open_exported(folder, card)) is not None:
            return policy
    from policies.film import policy as with_torch

    return with_torch.open_film(folder, card, device)
