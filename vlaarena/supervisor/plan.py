"""What an arena consists of: which servers it must start itself, and the commands of every part."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from vlaarena import bundled
from vlaarena.supervisor.child import ChildSpec
from vlaarena.supervisor.folder import DataFolder

# What physics, rendering and networks want to know before they are loaded.
WORKER_ENVIRONMENT = {
    "MUJOCO_GL": "osmesa",
    "LP_NUM_THREADS": "0",  # the renderer's own threads do not survive the worker's fork
    "OMP_NUM_THREADS": "1",  # two rollouts share the cores; more threads each only get in each other's way
}
WORKER_GAVE_UP = b"Unrecoverable error"
"""Celery says so when its broker fails in a way that it does not know, as when the broker's disk is full; then it ends,
for which it may take minutes."""
VALKEY_SAYS_ALWAYS = b"Memory overcommit"  # true of most machines, and of no matter to a queue this small
# Together under ten seconds. Idle, each needs: valkey 0.2, mongo 2.1, worker 2.6, beat 0.5, web 0.6.
VALKEY_GRACE_S, MONGO_GRACE_S, WORKER_GRACE_S, BEAT_GRACE_S, WEB_GRACE_S = 0.5, 2.5, 3.2, 1.0, 2.0
# Unless ARENA_WORKER_NICENESS says otherwise: pages and calls answer while rollouts take whatever processor time is
# left. On a machine whose other work leaves none, nothing would be played.
WORKER_NICENESS = 10


@dataclass
class Servers:
    """The bundled servers to start, and the URLs under which the other parts find them."""

    specs: list[ChildSpec] = field(default_factory=list)
    urls: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Web:
    """Where the site is served, by how many processes. Several accept from one `socket` (a file descriptor), which
    stays open while they come and go."""

    host: str
    port: int
    processes: int = 1
    socket: int | None = None


def bundled_servers(folder: DataFolder, environment: Mapping[str, str], web_processes: int = 1) -> Servers:
    """A bundled server, on a free loopback port, for each URL that the environment does not give.

    Several web processes count visitors' votes and turns together, in a cache that they share.
    """
    servers = Servers()
    if not (environment.get("BROKER_URL") and environment.get("CHANNEL_URL")):
        password = folder.password("valkey")
        port = bundled.free_port()
        command = bundled.valkey_command(folder.path / "valkey", port, password)
        servers.specs.append(ChildSpec("valkey", command, VALKEY_GRACE_S, port, harmless=VALKEY_SAYS_ALWAYS))
        servers.urls["BROKER_URL"] = environment.get("BROKER_URL") or bundled.valkey_url(port, password, 0)
        servers.urls["CHANNEL_URL"] = environment.get("CHANNEL_URL") or bundled.valkey_url(port, password, 1)
        if web_processes > 1:
            servers.urls["CACHE_URL"] = environment.get("CACHE_URL") or bundled.valkey_url(port, password, 2)
    if not environment.get("MONGO_URL"):
        password = folder.password("mongo")
        port = bundled.free_port()
        command = bundled.secantus_command(folder.path / "mongo", port, password)
        spec = ChildSpec("mongo", command, MONGO_GRACE_S, port, hopeless=bundled.SECANTUS_PANIC)
        servers.specs.append(spec)
        servers.urls["MONGO_URL"] = bundled.mongo_url(port, password)
    return servers


def child_environment(folder: DataFolder, urls: Mapping[str, str]) -> dict[str, str]:
    """The environment of every child: ours, the data folder, and where the servers listen."""
    own = {"ARENA_DATA": str(folder.path), "PYTHONUNBUFFERED": "1", **urls}
    return folder.marked({**WORKER_ENVIRONMENT, **os.environ, **own})


def prepare() -> ChildSpec:
    """Migrations and seeds, in a process of their own: ours read its settings before the servers had addresses."""
    return ChildSpec("prepare", [sys.executable, "manage.py", "prepare"], grace_s=1.0)


def parts(
    *, queues: list[str], worker_processes: int, web: Web, worker_niceness: int = WORKER_NICENESS
) -> list[ChildSpec]:
    """Worker, beat and web, in the order in which they start."""
    celery = [sys.executable, "-m", "celery", "-A", "vlaarena"]
    worker = [
        *(*celery, "worker"),
        *("--hostname", f"arena-{os.getpid()}@%h"),
        *("--pool", "prefork"),
        *("--concurrency", str(worker_processes)),
        *("--queues", ",".join(queues)),
        *("--loglevel", "INFO"),
        *("-O", "fair"),
        *("--without-gossip", "--without-mingle"),
    ]
    beat = [*celery, "beat", "--loglevel", "INFO", "--pidfile="]
    return [
        ChildSpec("worker", worker, WORKER_GRACE_S, hopeless=WORKER_GAVE_UP, niceness=worker_niceness),
        ChildSpec("beat", beat, BEAT_GRACE_S),
        *_web(web),
    ]


def _web(web: Web) -> list[ChildSpec]:
    where = ["--bind", web.host, "--port", str(web.port)] if web.socket is None else ["--fd", str(web.socket)]
    command = [
        *(sys.executable, "-m", "daphne"),
        *where,
        *("--application-close-timeout", "1"),
        *("--verbosity", "0"),  # its lines bear addresses; ours are in vlaarena/monitoring/requests.py
        *("--no-server-name",),
        "vlaarena.asgi:application",
    ]
    names = ["web", *(f"web-{number}" for number in range(2, web.processes + 1))]
    sockets = () if web.socket is None else (web.socket,)
    return [ChildSpec(name, command, WEB_GRACE_S, web.port, sockets=sockets) for name in names]
