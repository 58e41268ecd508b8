"""Pages go first: the worker is nice as a process, and as a session where the kernel shares by those."""

from __future__ import annotations

import ctypes
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


PR_CAPBSET_DROP, CAP_SYS_ADMIN = 24, 21


def as_an_ordinary_user() -> None:
    """In the child: root, too, without what lets it write as often as it likes. Others have nothing to lose."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN)


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


def test_children_that_start_together_are_all_nice() -> None:
    """Each at its start; an ordinary user may say so once in a tenth of a second."""
    command = launched([sys.executable, "-c", ASK], 7)
    children = [
        subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.PIPE, text=True, preexec_fn=as_an_ordinary_user
        )
        for _ in range(4)
    ]
    told = [child.communicate(timeout=30)[0].split()[-1] for child in children]

    assert told == 4 * ["7" if Path("/proc/self/autogroup").exists() else "none"]
