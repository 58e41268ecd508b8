"""Noting that this worker cannot open a policy, in words that say what would have to be put right."""

from __future__ import annotations

from arena.models import FOLDER_TROUBLE, MEMORY_TROUBLE, Contestant
from arena.queue import hosting
from policies.base import PolicyError
from policies.names import install_line


def note_trouble(policy: Contestant, error: PolicyError) -> None:
    story = f"{MEMORY_TROUBLE if error.code == 'out_of_memory' else FOLDER_TROUBLE}{error}"
    if error.code == "missing_file":
        story += f"; install it: {install_line(policy.id)}"
    hosting.note_trouble(policy, story)
