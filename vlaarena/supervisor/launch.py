"""Becomes the command it is given, after asking the kernel to end it when its parent dies.

Run by path, `python -I launch.py PARENT_PID NICENESS COMMAND...`: needs nothing but the standard library, and leaves no
process of its own behind. Where the kernel knows no such request (anything but Linux), the command simply runs.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, niceness: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the kernel heard us
        sys.exit(1)
    _go_last(niceness)
    os.execvp(command[0], command)  # noqa: S606 - becoming the command is the point


def _go_last(niceness: int) -> None:
    """Let others go first. Where the kernel shares the processor by session, as Linux does by default, a process's own
    niceness counts within its session only; each child has one of its own, so the session's must be set as well.
    """
    os.nice(niceness)
    if niceness:
        # A kernel that does not share by session has no such file.
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as session:
            session.write(str(niceness))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
