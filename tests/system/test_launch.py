"""Pages go first: the worker is nice as a process, and as a session where the kernel shares by those."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from vlaarena.supervisor.child import launched

ASK = (
    "import os, pathlib\n"
    "shares = pathlib.Path('/proc/self/autogroup')\n"
    "print(os.nice(0), shares.read_text().split()[-1] if shares.exists() else 'none')"
)


def niceness_of_a_child(niceness: int) -> tuple[str, str]:
    """Its own, and its session's as the kernel tells it (`none` where it shares by process only)."""
    command = launched([sys.executable, "-c", ASK], niceness)
    told = subprocess.run(command, start_new_session=True, capture_output=True, text=True, check=True, timeout=30)
    own, session = told.stdout.split()
    return own, session


def test_a_nice_child_is_nice_as_a_process_and_as_a_session() -> None:
    own, session = niceness_of_a_child(7)

    assert int(own) == os.nice(0) + 7
    assert session == ("7" if Path("/proc/self/autogroup").exists() else "none")


def test_other_children_are_not() -> None:
    own, session = niceness_of_a_child(0)

    assert int(own) == os.nice(0)
    assert session in {"0", "none"}
