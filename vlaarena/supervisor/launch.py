"""Executes a command that the kernel kills when its parent dies.

Run by path, `python -I launch.py PARENT_PID NICENESS COMMAND...`. It needs only the standard library, and the command
replaces its process. On systems other than Linux the command outlives its parent.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


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
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as session:
            session.write(str(niceness))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
