"""What the faults are done to: an arena, its servers, each behind a line that can be cut, and a disk that can fill."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil

from tests.faults.clock import Clock
from tests.faults.link import Line
from tests.faults.services import OwnServer, Service
from tests.stack import Arena

Services = Callable[[Path], Sequence[Service]]
PARTS = {"BROKER_URL": "broker", "CHANNEL_URL": "channels", "MONGO_URL": "episodes", "DATABASE_URL": "database"}
CONTESTANTS = ("first", "second", "third")
# They need no weights: the scripted expert under three names, so that a turn is mostly physics.
ENTER_CONTESTANTS = f"""
from policies.models import Policy
Policy.objects.update(status="retired")
for name in {CONTESTANTS}:
    Policy.objects.create(id=name, name=name, family="test", adapter="expert", status="active")
"""
PROCESSES = ("loader", "worker", "worker child", "drawing", "web", "beat")
BUNDLED = ("valkey", "mongo")
# Nothing else differs from what ships: all visitors come from one address, and are much faster than people.
NO_LIMITS = dict.fromkeys(
    (
        "ARENA_VOTES_PER_VISITOR",
        "ARENA_VOTES_PER_ADDRESS",
        "ARENA_TURNS_PER_VISITOR",
        "ARENA_TURNS_PER_ADDRESS",
        "ARENA_SESSIONS_PER_ADDRESS",
    ),
    "1000000/minute",
)
DISK_MB = 1200
READY_WITHIN_S = 600.0  # beside other work of the machine


class Testbed:
    """One arena, `services` that are its alone, and lines between them. Use as a context manager.

    Without services it starts the bundled ones itself, as `make run` does: then no line leads to them.
    `lines`: one before each address that the arena is given, and `visitors` before its web server. With `jumps`, the
    arena's processes live by `clock`.
    """

    def __init__(self, folder: Path, services: Services, *, jumps: bool = False) -> None:
        self.folder = folder
        folder.chmod(0o755)  # PostgreSQL is another user, whose place is in here
        self.disk_is_ours = mount_small_disk(folder)
        self.clock = Clock(folder) if jumps else None
        self.own: dict[str, OwnServer] = {}
        self.lines: dict[str, Line] = {}
        try:
            urls = self._start(services(folder))
        except BaseException:
            self._end()
            raise
        built = folder / "built"  # nobody looks at pages
        built.mkdir()
        self.arena = Arena(
            folder / "arena",
            **urls,
            **NO_LIMITS,
            ARENA_STATIC=str(built),
            ARENA_SCENES=str(built),
            **(self.clock.environment if self.clock else {}),
        )
        self.lines["visitors"] = Line("127.0.0.1", self.arena.port)
        self.url = f"http://127.0.0.1:{self.lines['visitors'].port}/"

    def __enter__(self) -> Testbed:
        try:
            self.arena.start(ready_within=READY_WITHIN_S)
            self.arena.manage("shell", "--verbosity", "0", "-c", ENTER_CONTESTANTS)
            self.arena.manage("rebuild_rankings")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.arena.close()
        self._end()

    def _end(self) -> None:
        for line in self.lines.values():
            line.close()
        for server in self.own.values():
            server.stop()
        if self.disk_is_ours:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)

    def logs(self) -> list[str]:
        """What every part has written, with its tracebacks."""
        files = sorted((self.folder / "arena" / "log").iterdir())
        return [f"==> {file.name}\n{file.read_text(errors='replace')}" for file in files]

    @property
    def parts(self) -> list[str]:
        """Whatever can be killed and frozen."""
        return [*PROCESSES, *(self.own or BUNDLED)]

    def members(self, part: str) -> list[psutil.Process]:
        """The processes of a part, the first before those it started; `worker child` is one of the worker's.

        Empty while it is away.
        """
        if part in self.own:
            return self.own[part].members()
        try:
            first = psutil.Process(self.arena.children()["worker" if part == "worker child" else part])
            started = first.children(recursive=True)
        except (KeyError, ValueError, psutil.NoSuchProcess, FileNotFoundError):
            return []
        if part == "worker child":
            return [max(started, key=lambda child: child.pid)] if started else []
        return [first, *started]

    def ports_of(self, part: str) -> set[int]:
        """The local ports from which a part's processes are connected right now."""
        found: set[int] = set()
        for process in self.members(part):
            with contextlib.suppress(psutil.Error):
                found |= {each.laddr.port for each in process.net_connections("tcp") if each.laddr}
        return found

    @contextlib.contextmanager
    def cut_off(self, part: str) -> Iterator[None]:
        """No connection of this part to any server holds, and none can be made."""
        for line in self.lines.values():
            line.shut_out(lambda: self.ports_of(part))
        try:
            yield
        finally:
            for line in self.lines.values():
                line.shut_out(None)

    @contextlib.contextmanager
    def full_disk(self) -> Iterator[None]:
        """Leave no byte free on the disk of data, servers and logs."""
        filler = self.folder / "filler"
        with filler.open("wb") as stream, contextlib.suppress(OSError):
            while True:
                stream.write(b"\0" * 1_000_000)
                stream.flush()
        try:
            yield
        finally:
            filler.unlink()

    def _start(self, services: Sequence[Service]) -> dict[str, str]:
        """Start the servers; answers the addresses for the arena, all of them ends of lines."""
        urls: dict[str, str] = {}
        for service in services:
            self.own[service.name] = OwnServer(service, self.folder / f"{service.name}.log")
            urls |= {variable: self._lined(PARTS[variable], url) for variable, url in service.urls.items()}
        for server in self.own.values():
            server.wait()
        return urls

    def _lined(self, part: str, url: str) -> str:
        """The same URL through a line of its own."""
        split = urlsplit(url)
        line = self.lines[part] = Line("127.0.0.1", split.port or 0)
        who = split.netloc.rpartition("@")[0]
        place = f"{who}@127.0.0.1:{line.port}" if who else f"127.0.0.1:{line.port}"
        return urlunsplit(split._replace(netloc=place))


def mount_small_disk(folder: Path, megabytes: int = DISK_MB) -> bool:
    """Give the folder a small disk of its own in memory, where we may: so that it can be filled without harm."""
    if os.geteuid() or shutil.which("mount") is None:
        return False
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    return mounted.returncode == 0


def frozen(processes: list[psutil.Process], seconds: float) -> None:
    """Stop processes as a debugger does, and let them go on after so long."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.suspend()
    time.sleep(seconds)
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()
