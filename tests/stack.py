"""A whole arena as a process: `manage.py up` on a folder and port of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import secrets
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pymongo

from tests import servers
from tests.ports import free_port
from vlaarena.supervisor.folder import MARK

BASE_DIR = Path(__file__).resolve().parent.parent
OURS = {*servers.URLS, servers.NAMED, "MONGO_DATABASE", "ARENA_SECRET_KEY", "ARENA_PREFIX", "DJANGO_SETTINGS_MODULE"}

FOR_TESTS = {
    "ARENA_RELEASE_SPEED": "5",  # a live turn takes a second, which is long enough to see it move on a busy machine
    "ARENA_RELEASE_BUFFER_S": "0.2",
    "ARENA_VOTE_UNDO_SECONDS": "0.3",
    "ARENA_COMMENTS": "on",
    "ARENA_REPEAT_SHARE": "0",  # a test plays the battle that it opened, not another that stands in for it by chance
}
"""Environment of arenas whose tests are about something else. Benches and campaigns run what is shipped."""

NO_CLOCK = {"ARENA_RELEASE_BUFFER_S": "0", "ARENA_RELEASE_SPEED": "1000000"}
"""For benches of the work itself: turns are told as soon as they have settled."""


class Arena:
    """One arena on `folder`. Servers named in the environment of the test run are used; the others are bundled ones."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self._name = f"vla_arena_test_{secrets.token_hex(4)}"
        inherited = {name: value for name, value in os.environ.items() if name not in OURS}
        self.environment = {
            **inherited,
            **_own_places(self._name),
            "ARENA_DATA": str(folder),
            "ARENA_PORT": str(self.port),
            "ARENA_KINDS": "robots",  # the language model takes memory and a second; "" is what is shipped
            **environment,
        }
        self._process: subprocess.Popen[str] | None = None
        self._ready: queue.Queue[str] = queue.Queue()
        self.errors: list[str] = []

    def start(self, *, ready_within: float = 330.0) -> dict[str, Any]:
        """Start it and wait until it says that it is ready; answers what it said."""
        self.launch()
        return self.wait_ready(ready_within)

    def launch(self) -> None:
        self.errors = []
        self._process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--json"],
            cwd=BASE_DIR,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for stream, take in ((self._process.stdout, self._ready.put), (self._process.stderr, self.errors.append)):
            threading.Thread(target=_drain, args=(stream, take), daemon=True).start()

    def wait_ready(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):
                said: dict[str, Any] = json.loads(self._ready.get(timeout=0.2))
                return said
            if self.process.poll() is not None:
                break
        raise AssertionError("the arena did not get ready:\n" + "".join(self.errors[-40:]))

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process is not None, "the arena was never started"
        return self._process

    def stop(self, number: int = signal.SIGINT) -> int:
        """Ask it to stop as Ctrl-C does; answers the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)  # ten seconds at most, on a machine that does nothing else

    def close(self) -> None:
        """Stop it whatever state it is in, and drop what it stored on servers that are not its own."""
        if self._process is not None and self._process.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        _drop_places(self.environment)

    def children(self) -> dict[str, int]:
        """Process id of each part, as the supervisor wrote them down."""
        processes: dict[str, int] = json.loads((self.folder / "running.json").read_text())["processes"]
        return processes

    @contextlib.contextmanager
    def workers_held(self) -> Iterator[None]:
        """Meanwhile no rollout is begun, and none that has begun goes on. None is held while it writes."""
        worker = psutil.Process(self.children()["worker"])
        held = [worker, *worker.children(recursive=True)]
        wait_until(lambda: _suspended(held) and (self._may_write() or _resumed(held)))
        try:
            yield
        finally:
            _resumed(held)

    def _may_write(self) -> bool:
        """Whether nobody holds the lock of the bundled database; another engine has none for all."""
        if "DATABASE_URL" in self.environment:
            return True
        try:
            with contextlib.closing(sqlite3.connect(self.folder / "arena.sqlite3", timeout=0.2)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except sqlite3.OperationalError:
            return False
        return True

    def processes(self) -> list[psutil.Process]:
        """Every living process that works for this arena, grandchildren included, the supervisor not."""
        return [process for process in psutil.process_iter() if _works_on(process, self.folder)]

    def health(self) -> tuple[int, dict[str, Any]]:
        """Status and body of /api/health; (0, {}) when nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/api/health")
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        except OSError:
            return 0, {}
        finally:
            connection.close()

    def wait_healthy(self, seconds: float = 180.0) -> None:
        deadline = time.monotonic() + seconds
        while (answer := self.health())[0] != 200:
            assert time.monotonic() < deadline, f"after {seconds} s: {answer}\n" + "".join(self.errors[-30:])
            time.sleep(0.1)

    def manage(self, *arguments: str) -> str:
        """Run a management command beside the arena; answers what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE_DIR,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def wait_until(what: Callable[[], object], seconds: float = 180.0) -> None:
    """Wait until `what()` is true; fail when it is not in time."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.1)


def _suspended(processes: list[psutil.Process]) -> bool:
    for process in processes:
        process.suspend()
    return True


def _resumed(processes: list[psutil.Process]) -> bool:
    """They go on; answers False, which is not to be held."""
    for process in reversed(processes):
        process.resume()
    return False


def _drain(stream: Any, take: Callable[[str], None]) -> None:
    with stream:
        for line in stream:
            take(line)


def _works_on(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(MARK) == str(folder.resolve())
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return False


def _own_places(name: str) -> dict[str, str]:
    """On servers that were given: a database, a Mongo database and queue names that nobody else uses."""
    places = {**servers.given, "ARENA_PREFIX": f"{name}-", "MONGO_DATABASE": name}
    if url := servers.given.get("DATABASE_URL"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        places["DATABASE_URL"] = url.rpartition("/")[0] + f"/{name}"
    return places


def _drop_places(environment: Mapping[str, str]) -> None:
    name = environment["MONGO_DATABASE"]
    servers.forget(environment["ARENA_PREFIX"])
    if url := servers.given.get("DATABASE_URL"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    if url := servers.given.get("MONGO_URL"):
        with pymongo.MongoClient[dict[str, Any]](url) as client:
            client.drop_database(name)
