"""What the faults are done to: an arena, its servers, each behind a line that can be cut, and a disk that can fill."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from tests import servers
from tests.faults.link import Line
from tests.stack import Arena
from vlaarena import bundled

# Two contestants that need no weights: the scripted expert under two names, so that a turn is mostly physics.
ENTER_CONTESTANTS = """
from policies.models import Policy
Policy.objects.update(status="retired")
for name in ("first", "second", "third"):
    Policy.objects.create(id=name, name=name, family="test", adapter="expert", status="active")
"""
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
DISK_MB = 700


class OwnServer:
    """A bundled server that is started again a moment after it dies, as a host's init would."""

    def __init__(self, name: str, command: Callable[[Path, int], list[str]], folder: Path) -> None:
        self.name, self.port = name, bundled.free_port()
        self._command, self._log = command(folder / name, self.port), folder / f"{name}.log"
        self._over = threading.Event()
        self.deaths = 0
        self.process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def stop(self) -> None:
        self._over.set()
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def _keep(self) -> None:
        while not self._over.is_set():
            self.process.wait()
            if self._over.wait(0.3):
                return
            self.deaths += 1
            self.process = self._start()


class Theatre:
    """One arena with its servers. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk_is_ours = mount_small_disk(folder)
        self.own: dict[str, OwnServer] = {}
        self.lines: dict[str, Line] = {}
        urls = self._servers()
        built = folder / "built"
        built.mkdir()
        self.arena = Arena(
            folder / "arena",
            **urls,
            **NO_LIMITS,
            ARENA_DEATHS_ALLOWED="100000",
            ARENA_STATIC=str(built),
            ARENA_SCENES=str(built),
        )
        if "DATABASE_URL" in self.arena.environment:
            self._put_line_before_database()

    def __enter__(self) -> Theatre:
        try:
            self.arena.start()
            self.arena.manage("shell", "--verbosity", "0", "-c", ENTER_CONTESTANTS)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.arena.close()
        for line in self.lines.values():
            line.close()
        for server in self.own.values():
            server.stop()
        if self.disk_is_ours:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)

    def process_of(self, part: str) -> psutil.Process | None:
        """The process behind a part's name; `worker child` is one of the worker's. None while it is away."""
        try:
            if part in self.own:
                return psutil.Process(self.own[part].process.pid)
            if part == "worker child":
                children = psutil.Process(self.arena.children()["worker"]).children()
                return max(children, key=lambda child: child.pid) if children else None
            return psutil.Process(self.arena.children()[part])
        except (KeyError, psutil.NoSuchProcess, FileNotFoundError):
            return None

    def drop_database_connections(self) -> int:
        """PostgreSQL: end every backend of our database, as a fail-over does; answers how many."""
        url = servers.given["DATABASE_URL"]
        name = self.arena.environment["MONGO_DATABASE"]
        ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute(ended, [name]).fetchone()
        return int(row[0]) if row else 0

    @property
    def has_postgres(self) -> bool:
        return "database" in self.lines

    @contextlib.contextmanager
    def full_disk(self):  # type: ignore[no-untyped-def]
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

    def _servers(self) -> dict[str, str]:
        """Addresses for the arena, all of them ends of lines."""
        given = {name: url for name, url in servers.given.items() if name != "DATABASE_URL"}
        urls: dict[str, str] = {}
        if "BROKER_URL" not in given or "CHANNEL_URL" not in given:
            given |= self._own("valkey", bundled.valkey_command, BROKER_URL="redis://{}/0", CHANNEL_URL="redis://{}/1")
        if "MONGO_URL" not in given:
            given |= self._own("mongo", bundled.secantus_command, MONGO_URL="mongodb://{}")
        for name, url in given.items():
            part = {"BROKER_URL": "broker", "CHANNEL_URL": "channels", "MONGO_URL": "episodes"}[name]
            urls[name] = self._lined(part, url)
        return urls

    def _own(self, name: str, command: Callable[[Path, int], list[str]], **urls: str) -> dict[str, str]:
        server = self.own[name] = OwnServer(name, command, self.folder)
        if not bundled.wait_for(server.port):
            raise RuntimeError(f"{name} did not start")
        return {variable: form.format(f"127.0.0.1:{server.port}") for variable, form in urls.items()}

    def _lined(self, part: str, url: str) -> str:
        """The same URL through a line of its own."""
        split = urlsplit(url)
        usual = {"redis": 6379, "amqp": 5672, "mongodb": 27017, "postgres": 5432, "postgresql": 5432}
        line = self.lines[part] = Line(split.hostname or "127.0.0.1", split.port or usual[split.scheme])
        who = split.netloc.rpartition("@")[0]
        place = f"{who}@127.0.0.1:{line.port}" if who else f"127.0.0.1:{line.port}"
        return urlunsplit(split._replace(netloc=place))

    def _put_line_before_database(self) -> None:
        self.arena.environment["DATABASE_URL"] = self._lined("database", self.arena.environment["DATABASE_URL"])


def mount_small_disk(folder: Path) -> bool:
    """Give the folder a small disk of its own in memory, where we may: so that it can be filled without harm."""
    if os.geteuid() or shutil.which("mount") is None:
        return False
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)], check=False, capture_output=True
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
