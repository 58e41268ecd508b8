"""Servers that belong to a campaign alone: bundled ones, or PostgreSQL, Redis and RabbitMQ as installed on this host.

Nobody else uses them, so they may be killed; each is started again a moment after it dies, or when its start takes too
long, as a host's init would.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.ports import free_port
from vlaarena import bundled

POSTGRES_PROGRAMS = Path("/usr/lib/postgresql")
RABBIT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
PASSWORD = secrets.token_hex(16)
STARTS_WITHIN_S = 240.0  # RabbitMQ beside other work of the machine
UP_AGAIN_WITHIN_S = 90.0
"""After this a start is given up and tried anew, like systemd's TimeoutStartSec: RabbitMQ's hangs on a full disk."""


class ServiceMissing(Exception):
    """A program that the campaign wants is not installed; the message names the package."""


@dataclass(frozen=True)
class Service:
    """How a server is started, and the addresses under which an arena finds it (variable -> URL).

    `hopeless`: when its log says this it is ended, as the arena's supervisor does with the bundled store.
    """

    name: str
    port: int
    command: Sequence[str]
    urls: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    hopeless: bytes | None = None


class OwnServer:
    """A running service, kept running."""

    def __init__(self, service: Service, log: Path) -> None:
        self.name = service.name
        self._service, self._log = service, log
        self._read_to = 0
        self._over = threading.Event()
        self.process = self._start()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def wait(self) -> None:
        if not bundled.wait_for(self._service.port, STARTS_WITHIN_S):
            raise RuntimeError(f"{self.name} did not start: {self._log.read_text(errors='replace')[-2000:]}")

    def members(self) -> list[psutil.Process]:
        """Its processes, the first that was started before those it started; empty while it is away."""
        try:
            first = psutil.Process(self.process.pid)
            return [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def stop(self) -> None:
        self._over.set()
        self._keeper.join(10)  # from here on nothing starts it again
        members = self.members()
        for process in members:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()
        self.process.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs(members, timeout=10)
        for process in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait(10)

    def _start(self) -> subprocess.Popen[bytes]:
        self._begun, self._is_up = time.monotonic(), False
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._service.command,
                env={**os.environ, **self._service.environment},
                user=self._service.user,
                group=self._service.user,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    def _keep(self) -> None:
        while not self._over.wait(0.3):
            if self.process.poll() is not None:
                with contextlib.suppress(OSError):  # no process may be had just now: the next round tries again
                    self.process = self._start()
            elif self._gave_up() or self._hangs():
                self.process.kill()

    def _hangs(self) -> bool:
        """Whether it lives, and has not begun to listen in all the time that a start may take."""
        self._is_up = self._is_up or bundled.answers(self._service.port)
        return not self._is_up and time.monotonic() - self._begun > UP_AGAIN_WITHIN_S

    def _gave_up(self) -> bool:
        """Whether its log has a new line that says so; a disk that is full may have taken no line."""
        if self._service.hopeless is None:
            return False
        with self._log.open("rb") as log:
            log.seek(self._read_to)
            new = log.read()
        self._read_to += len(new)
        return self._service.hopeless in new


def none(folder: Path) -> list[Service]:
    """The arena starts its own, as `make run` does."""
    return []


def bundled_services(folder: Path) -> list[Service]:
    """Those of the embedded default. Its database, SQLite, has no process of its own."""
    return [_valkey(folder), _episodes(folder)]


def real_services(folder: Path) -> list[Service]:
    """PostgreSQL, Redis and RabbitMQ. MongoDB is in no Debian: the bundled server stands for it."""
    return [_postgres(folder / "postgres"), _redis(folder / "redis"), _rabbit(folder / "rabbit"), _episodes(folder)]


def _valkey(folder: Path) -> Service:
    port = free_port()
    urls = {
        "BROKER_URL": bundled.valkey_url(port, PASSWORD, 0),
        "CHANNEL_URL": bundled.valkey_url(port, PASSWORD, 1),
    }
    return Service("valkey", port, bundled.valkey_command(folder / "valkey", port, PASSWORD), urls)


def _episodes(folder: Path) -> Service:
    port = free_port()
    command = bundled.secantus_command(folder / "mongo", port, PASSWORD)
    urls = {"MONGO_URL": bundled.mongo_url(port, PASSWORD)}
    return Service("mongo", port, command, urls, hopeless=bundled.SECANTUS_PANIC)


def _redis(folder: Path) -> Service:
    port, program = free_port(), shutil.which("redis-server")
    if program is None:
        raise ServiceMissing("redis-server is not installed: apt-get install redis-server")
    command = [program, *bundled.valkey_command(folder, port, PASSWORD)[1:]]
    return Service("redis", port, command, {"CHANNEL_URL": bundled.valkey_url(port, PASSWORD, 0)})


def _rabbit(folder: Path) -> Service:
    if not RABBIT.exists():
        raise ServiceMissing(f"{RABBIT} is missing: apt-get install rabbitmq-server")
    folder.mkdir()
    port, between_nodes = free_port(), free_port()
    settings = folder / "rabbitmq.conf"
    settings.write_text(f"listeners.tcp.1 = 127.0.0.1:{port}\n")
    plugins = folder / "plugins"
    plugins.write_text("[].\n")
    environment = {
        "HOME": str(folder),
        "RUNNING_UNDER_SYSTEMD": "true",  # one process in the foreground, without a shell between it and us
        "RABBITMQ_NODENAME": f"faults{port}@localhost",
        "RABBITMQ_DIST_PORT": str(between_nodes),
        "RABBITMQ_CONFIG_FILE": str(settings),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
    }
    return Service("rabbit", port, [str(RABBIT)], {"BROKER_URL": f"amqp://guest:guest@127.0.0.1:{port}//"}, environment)


def _postgres(folder: Path) -> Service:
    """A cluster of its own in which the arena's role owns everything; its server will not run as root."""
    versions = sorted(POSTGRES_PROGRAMS.glob("*/bin/postgres"), key=lambda program: float(program.parts[-3]))
    if not versions:
        raise ServiceMissing("PostgreSQL is not installed: apt-get install postgresql")
    programs, port = versions[-1].parent, free_port()
    folder.mkdir()
    user = None
    if os.geteuid() == 0:
        user = "postgres"
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)
    subprocess.run(
        [str(programs / "initdb"), "-D", str(folder / "data"), "-U", "arena", "-A", "trust", "-E", "UTF8", "-N"],
        check=True,
        user=user,
        group=user,
        cwd=folder,
        capture_output=True,
    )
    command = [
        *(str(programs / "postgres"), "-D", str(folder / "data")),
        *("-p", str(port), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"),
        *("-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB"),  # the disk of a campaign is small
    ]
    return Service(
        "postgres", port, command, {"DATABASE_URL": f"postgres://arena@127.0.0.1:{port}/postgres"}, user=user
    )
