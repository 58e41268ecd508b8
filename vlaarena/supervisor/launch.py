"""Executes a command that the kernel kills when its parent dies.

Run by path, `python -I launch.py PARENT_PID NICENESS COMMAND...`. It needs only the standard library, and the command
replaces its process. On systems other than Linux the command outlives its parent.
"""

import contextlib
import ctypes
import io
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
TRIES, PAUSE_S = 40, 0.05


def main(parent: int, niceness: int, command: list[str]) -> None:
    end_with(parent)
    be_nice(niceness)
    os.execvp(command[0], command)  # noqa: S606 - the command replaces this process


def end_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the request
        sys.exit(1)


def be_nice(niceness: int) -> None:
    os.nice(niceness)
    if niceness:
        # Linux shares the processor by session (autogroup): a process's niceness counts only within its session, and
        # each child has its own. A kernel without autogroups lacks this file.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "wb", buffering=0) as session:
            _write(session, str(niceness).encode())


def _write(session: io.FileIO, niceness: bytes) -> None:
    """Of all users but root, the kernel takes one such word in a tenth of a second, and parts start together."""
    for _ in range(TRIES):
        if session.write(niceness) is not None:  # None: to be tried again
            return
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
