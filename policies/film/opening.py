"""Opening a FiLM folder: without torch where that gives the same, with it anywhere else."""

from __future__ import annotations

from pathlib import Path

from policies.base import OpenedPolicy, PolicyCard
from policies.exported import open_exported
from policies.film.exported import open_exported_film
from policies.folder import STATISTICS, TOKENIZER, WEIGHTS, check_sums


def open_film(folder: Path, card: PolicyCard, device: str | None) -> OpenedPolicy:
    """Open a folder whose card has been read; every needed file must be listed in SHA256SUMS."""
    check_sums(folder, required=(WEIGHTS, STATISTICS, TOKENIZER))
    if (policy := open_exported(folder, card, device, open_exported_film)) is not None:
        return policy
    from policies.film import policy as with_torch

    return with_torch.open_film(folder, card, device)
