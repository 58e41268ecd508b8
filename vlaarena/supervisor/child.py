"""One child of the supervisor: a process in a session of its own, its log, its last words and its deaths."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vlaarena import env
from vlaarena.supervisor.logs import Log
from vlaarena.supervisor.room import SAYS_NO_ROOM

LAUNCHER = Path(__file__).with_name("launch.py")
WARNING = re.compile(rb"\b(WARNING|ERROR|CRITICAL|FATAL)\b|^Traceback ")
LAST_LINES = 12
DEATHS_ALLOWED = int(env.number("ARENA_DEATHS_ALLOWED", 3))  # within the window; the last ends everything
DEATHS_WINDOW_S = 60.0
HOPELESS_PAUSE_S = 25.0  # from a start, at least: while a disk stays full, killing more often would be in vain


@dataclass(frozen=True)
class ChildSpec:
    """What to run, and how long it may take to stop once asked [s].

    `port`: it counts as started when that answers. `harmless`: a warning with this in it is not passed on. `hopeless`:
    after a line with this in it the process can do nothing more, and is killed, to be started again.
    `niceness`: above 0 it lets the others go first when they all want the processor. `sockets`: file
    descriptors of open ones that it inherits.
    """

    name: str
    command: Sequence[str]
    grace_s: float
    port: int | None = None
    harmless: bytes | None = None
    hopeless: bytes | None = None
    niceness: int = 0
    sockets: tuple[int, ...] = ()


def launched(command: Sequence[str], niceness: int = 0) -> list[str]:
    """The command, made to end with this process."""
    return [sys.executable, "-I", str(LAUNCHER), str(os.getpid()), str(niceness), *command]


class Child:
    def __init__(self, spec: ChildSpec, *, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self.spec = spec
        self.last_lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
        self.on_warning: Callable[[str, str], None] = lambda name, line: None
        self._environment = dict(environment)
        self._folder = folder
        self._log = log
        self._deaths: list[float] = []
        self._started = 0.0
        self._doomed = False
        self._found_no_room = False
        self._process: asyncio.subprocess.Process | None = None
        self._pump: asyncio.Task[None] | None = None
        self._doom: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def found_no_room(self) -> bool:
        """Whether it has said since its start that a disk is full."""
        return self._found_no_room

    @property
    def alive_s(self) -> float:
        """For how long it has run, or had run when it ended and was waited for [s]."""
        return time.monotonic() - self._started

    async def start(self) -> None:
        self._started, self._doomed, self._found_no_room = time.monotonic(), False, False
        self._process = await asyncio.create_subprocess_exec(
            *launched(self.spec.command, self.spec.niceness),
            env=self._environment,
            cwd=self._folder,
            pass_fds=self.spec.sockets,
            start_new_session=True,  # Ctrl-C reaches the supervisor alone, which then stops each in its turn
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        self._pump = asyncio.create_task(self._keep_output(self._process))

    async def wait(self) -> int:
        """Wait for its end; whatever it started ends with it. Answers the exit code, negative for a signal."""
        if self._process is None:
            raise RuntimeError(f"{self.spec.name} was never started")
        code = await self._process.wait()
        self.kill()
        if self._pump:
            await self._pump
        if self._doom:  # it would end the one that is started next
            self._doom.cancel()
        return code

    def died_too_often(self) -> bool:
        """Count a death; True when it was the third within a minute."""
        now = time.monotonic()
        self._deaths = [when for when in self._deaths if now - when < DEATHS_WINDOW_S] + [now]
        return len(self._deaths) >= DEATHS_ALLOWED

    async def stop(self) -> None:
        """Ask it to stop, and kill it and all it started when it does not within its grace."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), self.spec.grace_s)
        self.kill()
        await self.wait()

    def kill(self) -> None:
        """End it, and all that it started, at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _end_doomed(self) -> None:
        self.on_warning(self.spec.name, "can do nothing more until it is started again")
        self.kill()

    async def _keep_output(self, process: asyncio.subprocess.Process) -> None:
        """Write all it prints to its log; keep the last lines; pass warnings on.

        A log that cannot be written, on a full disk say, is no reason to stop reading: the child would block on its
        next line.
        """
        stream = process.stdout
        if stream is None:
            return
        rest = b""
        with Log(self._log) as log:
            while block := await stream.read(65536):
                log.write(block)
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    self._note(line)
                rest = rest[-65536:]
        if rest:
            self._note(rest)

    def _note(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        if text:
            self.last_lines.append(text)
        self._found_no_room = self._found_no_room or SAYS_NO_ROOM.search(line) is not None
        if self.spec.hopeless and self.spec.hopeless in line and not self._doomed:
            self._doomed = True
            self._doom = asyncio.get_running_loop().call_later(
                max(0.0, HOPELESS_PAUSE_S - self.alive_s), self._end_doomed
            )
        if WARNING.search(line) and not (self.spec.harmless and self.spec.harmless in line):
            self.on_warning(self.spec.name, text)
