"""One child of the supervisor: a process in its own session, its log, its last lines and its deaths."""

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
from typing import Protocol

from vlaarena import env
from vlaarena.supervisor.logs import Log
from vlaarena.supervisor.room import SAYS_NO_ROOM

LAUNCHER = Path(__file__).with_name("launch.py")
WARNING = re.compile(rb"\b(WARNING|ERROR|CRITICAL|FATAL)\b|^Traceback ")
LAST_LINES = 12
DEATHS_ALLOWED = int(env.number("ARENA_DEATHS_ALLOWED", 3))  # within the window; the last one ends the arena
DEATHS_WINDOW_S = 60.0
HOPELESS_PAUSE_S = 25.0  # least time from a start to a kill: while a disk stays full, more kills would not help


@dataclass(frozen=True)
class ChildSpec:
    """What to run. `grace_s`: how long it may take to stop [s].

    `port`: it counts as started when this port answers. `harmless`: warnings that contain this are not passed on.
    `hopeless`: after a line that contains this the process cannot recover, and is killed and restarted. `niceness`:
    above 0, other processes get processor time first. `sockets`: file descriptors of open sockets that it inherits.
    `environment`: variables of its own.
    """

    name: str
    command: Sequence[str]
    grace_s: float
    port: int | None = None
    harmless: bytes | None = None
    hopeless: bytes | None = None
    niceness: int = 0
    sockets: tuple[int, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    forked: bool = False
    """Whether the loader forks it, where there is one."""


class Process(Protocol):
    """What of asyncio's processes a child needs."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int | None: ...
    async def wait(self) -> int: ...
    def terminate(self) -> None: ...


class Forks(Protocol):
    """Starts a part with this file for its output."""

    async def fork(self, spec: ChildSpec, output: int) -> Process: ...


def launched(command: Sequence[str], niceness: int = 0) -> list[str]:
    """The command wrapped so that it ends with this process."""
    return [sys.executable, "-I", str(LAUNCHER), str(os.getpid()), str(niceness), *command]


class Child:
    def __init__(
        self,
        spec: ChildSpec,
        *,
        environment: Mapping[str, str],
        folder: Path,
        log: Path,
        loader: Forks | None = None,
    ) -> None:
        """`loader`: forks it; without one it is started as a program of its own."""
        self.spec = spec
        self.last_lines: collections.deque[str] = collections.deque(maxlen=LAST_LINES)
        self.on_warning: Callable[[str, str], None] = lambda name, line: None
        self._environment = {**environment, **dict(spec.environment)}
        self._folder = folder
        self._log = log
        self._deaths: list[float] = []
        self._started = 0.0
        self.found_no_room = False
        """Whether it has reported a full disk since its start."""
        self._loader = loader
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._kill_timer: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def alive_s(self) -> float:
        """Time since its last start [s]."""
        return time.monotonic() - self._started

    async def start(self) -> None:
        self._started, self._kill_timer, self.found_no_room = time.monotonic(), None, False
        output, its_end = os.pipe()
        try:
            self._process = await (self._loader.fork(self.spec, its_end) if self._loader else self._execute(its_end))
        except BaseException:
            os.close(output)
            raise
        finally:
            os.close(its_end)
        self._reader = asyncio.create_task(self._keep_output(output))

    async def _execute(self, output: int) -> Process:
        return await asyncio.create_subprocess_exec(
            *launched(self.spec.command, self.spec.niceness),
            env=self._environment,
            cwd=self._folder,
            pass_fds=self.spec.sockets,
            start_new_session=True,  # Ctrl-C reaches only the supervisor, which then stops the children in order
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def wait(self) -> int:
        """Wait for its end, and end whatever it started. Returns the exit code, negative for a signal."""
        if self._process is None:
            raise RuntimeError(f"{self.spec.name} was never started")
        code = await self._process.wait()
        self.kill()
        if self._reader:
            await self._reader
        if self._kill_timer:  # it would kill the next process
            self._kill_timer.cancel()
        return code

    def died_too_often(self) -> bool:
        """Count a death. True for the last that DEATHS_ALLOWED permits within DEATHS_WINDOW_S."""
        now = time.monotonic()
        self._deaths = [when for when in self._deaths if now - when < DEATHS_WINDOW_S] + [now]
        return len(self._deaths) >= DEATHS_ALLOWED

    async def stop(self) -> None:
        """Terminate it, and kill it and all it started if it does not end within its grace period."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), self.spec.grace_s)
        self.kill()
        await self.wait()

    def kill(self) -> None:
        """Kill it and all it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
                return
            if self._process.returncode is None:  # forked, and not yet in a session of its own
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGKILL)

    def _kill_hopeless(self) -> None:
        self.on_warning(self.spec.name, "can do nothing more until it is started again")
        self.kill()

    async def _keep_output(self, output: int) -> None:
        """Write its output to its log, keep the last lines, and pass warnings on.

        Reading goes on even if the log cannot be written, as on a full disk: else the child would block on its output.
        """
        stream, rest = asyncio.StreamReader(), b""
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(output, "rb", buffering=0)
        )
        with contextlib.closing(transport), Log(self._log) as log:
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
        self.found_no_room = self.found_no_room or SAYS_NO_ROOM.search(line) is not None
        if self.spec.hopeless and self.spec.hopeless in line and not self._kill_timer:
            pause_s = max(0.0, HOPELESS_PAUSE_S - self.alive_s)
            self._kill_timer = asyncio.get_running_loop().call_later(pause_s, self._kill_hopeless)
        if WARNING.search(line) and not (self.spec.harmless and self.spec.harmless in line):
            self.on_warning(self.spec.name, text)
