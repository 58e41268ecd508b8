"""The parts of an arena: which servers it must start itself, and the command of every part."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.conf import settings

from texts import embedded
from vlaarena import bundled
from vlaarena.supervisor.child import ChildSpec
from vlaarena.supervisor.folder import DataFolder
from vlaarena.supervisor.forked import PlayedKind

# MuJoCo, the renderer and PyTorch read these when they are loaded.
WORKER_ENVIRONMENT = {
    "MUJOCO_GL": "osmesa",
    "LP_NUM_THREADS": "0",  # the renderer's own threads do not survive the worker's fork
    "OMP_NUM_THREADS": "1",  # rollouts run in parallel: more threads each would compete for the cores
}
PART_ENVIRONMENT = {
    "CELERY_SKIP_CHECKS": "1",  # `prepare` makes Django's checks; with them, a worker loads all pages and forms
}
WORKER_GAVE_UP = b"Unrecoverable error"
"""Celery logs this on an unknown error of its broker, such as a full disk, and then takes up to minutes to exit."""
VALKEY_SAYS_ALWAYS = b"Memory overcommit"  # a warning on most machines, irrelevant for a queue this small
# Together under ten seconds. An idle part needs: valkey 0.2, mongo 2.1, worker 2.6, beat 0.5, web 0.6.
VALKEY_GRACE_S, MONGO_GRACE_S, WORKER_GRACE_S, BEAT_GRACE_S, WEB_GRACE_S = 0.5, 2.5, 3.2, 1.0, 2.0
# The default of ARENA_WORKER_NICENESS: rollouts get the processor time that pages and calls leave. On a machine whose
# other work leaves none, nothing is played.
WORKER_NICENESS = 10
# Drawings come after rollouts.
DRAWING_NICENESS, DRAWING_GRACE_S = 15, 0.7
LANGUAGE_GRACE_S, WAITING_GRACE_S, CALLS_GRACE_S, LOADER_GRACE_S = 0.5, 2.0, 1.5, 0.3
# Games of Snake come last. A game that is ended leaves no file.
LADDER_NICENESS, LADDER_GRACE_S = 19, 0.3
LADDER_PACE = ("--pace-s", "1", "--pause-s", "30")
EMBEDDED_TEXT = "ARENA_EMBEDDED_TEXT_URL"
"""Its value tells the parts where SmolLM2 is served; with it, a site that says nothing else offers text."""
TEXT, VOICE = "text", "voice"
"""Kinds, whose own modules load the models."""
MEMORY = Path("/dev/shm")  # noqa: S108 - a temporary folder is created in it


@dataclass
class Servers:
    """The bundled servers to start, and their URLs by variable."""

    specs: list[ChildSpec] = field(default_factory=list)
    urls: dict[str, str] = field(default_factory=dict)

    def add_language(self, name: str, command: list[str], port: int, variable: str, key: str) -> None:
        self.specs.append(ChildSpec(name, command, LANGUAGE_GRACE_S, port))
        self.urls[variable] = f"http://arena:{key}@127.0.0.1:{port}/v1"


def bundled_servers(folder: DataFolder, environment: Mapping[str, str], web_processes: int = 1) -> Servers:
    """A bundled server on a free loopback port for each URL that the environment lacks.

    Several web processes share a cache, in which they count visitors' votes and turns together.
    """
    servers = Servers()
    if not (environment.get("BROKER_URL") and environment.get("CHANNEL_URL")):
        password, port = folder.password("valkey"), bundled.free_port()
        command = bundled.valkey_command(folder.path / "valkey", port, password)
        servers.specs.append(ChildSpec("valkey", command, VALKEY_GRACE_S, port, harmless=VALKEY_SAYS_ALWAYS))
        names = ["BROKER_URL", "CHANNEL_URL", *(["CACHE_URL"] if web_processes > 1 else [])]
        for database, name in enumerate(names):
            servers.urls[name] = environment.get(name) or bundled.valkey_url(port, password, database)
    if not environment.get("MONGO_URL"):
        password, port = folder.password("mongo"), bundled.free_port()
        command = bundled.secantus_command(folder.path / "mongo", port, password)
        servers.specs.append(ChildSpec("mongo", command, MONGO_GRACE_S, port, hopeless=bundled.SECANTUS_PANIC))
        servers.urls["MONGO_URL"] = bundled.mongo_url(port, password)
    return servers


def language_server(folder: DataFolder) -> Servers:
    """The language models beside the arena, each on a free loopback port. Visitors wait for each of their words, so
    they get as much processor time as pages. Raises CannotServe where they cannot run."""
    key, port, qwen_port = folder.password("language"), bundled.free_port(), bundled.free_port()
    key_file = folder.path / "language_password"
    found = Servers()
    found.add_language("language", embedded.command(port, key_file), port, EMBEDDED_TEXT, key)
    if command := embedded.qwen_command(qwen_port, key_file):
        found.add_language("language-qwen", command, qwen_port, "ARENA_EMBEDDED_QWEN_URL", key)
    return found


@contextlib.contextmanager
def shared_counts(web_processes: int) -> Iterator[dict[str, str]]:
    """The environment in which several web processes share their metrics; empty for one (decision: observability).

    The files are in memory where possible: they are memory-mapped, and a write on a full disk would kill the process.
    """
    if web_processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="vla-arena-counts-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield {"PROMETHEUS_MULTIPROC_DIR": folder}


def child_environment(folder: DataFolder, urls: Mapping[str, str]) -> dict[str, str]:
    """The environment of every child: ours, the data folder and the servers' URLs."""
    own = {"ARENA_DATA": str(folder.path), "PYTHONUNBUFFERED": "1", **urls}
    return folder.marked({**PART_ENVIRONMENT, **WORKER_ENVIRONMENT, **os.environ, **own})


def loader(socket: int | None = None) -> ChildSpec | None:
    """The process that forks the others, which share its memory; None where forks are not as on Linux. `socket`: that
    of several web processes."""
    if sys.platform != "linux":
        return None
    command = [sys.executable, "-m", "vlaarena.supervisor.loader"]
    return ChildSpec("loader", command, LOADER_GRACE_S, sockets=() if socket is None else (socket,))


def prepare() -> ChildSpec:
    """Migrations and seeds. In a new process, since this one read its settings before the servers had addresses."""
    return ChildSpec("prepare", [sys.executable, "manage.py", "prepare"], grace_s=1.0, forked=True)


def parts(
    kinds: Sequence[PlayedKind] = (),
    *,
    queues: list[str],
    worker_processes: int,
    worker_niceness: int = WORKER_NICENESS,
    drawing_niceness: int = DRAWING_NICENESS,
    host: str,
    port: int,
    web_processes: int = 1,
    socket: int | None = None,
) -> list[ChildSpec]:
    """Worker, drawing worker, beat and web, in their starting order, then the process that holds calls where voice is
    offered, and the ladder of Snake where it is asked for.

    Several web processes accept from one open `socket` (its fd). Those of `kinds` that wait have a worker of their own.
    """
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
    web = [
        *(sys.executable, "-m", "daphne"),
        *(("--bind", host, "--port", str(port)) if socket is None else ("--fd", str(socket))),
        *("--application-close-timeout", "1"),
        *("--verbosity", "0"),  # its lines contain addresses; vlaarena/monitoring/requests.py logs requests
        *("--no-server-name", "vlaarena.asgi:application"),
    ]
    drawing = [
        *(sys.executable, "-m", "celery", "-A", "vlaarena.drawing", "worker"),
        *("--hostname", f"drawing-{os.getpid()}@%h"),
        *("--concurrency", "1"),
        *("--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
    waits = [kind.id for kind in kinds if kind.waits]
    own = [("ARENA_WORKER_KINDS", ",".join(kind.id for kind in kinds if not kind.waits))] if waits else []
    web_names = ["web", *(f"web-{number}" for number in range(2, web_processes + 1))]
    sockets = () if socket is None else (socket,)
    voice_is_on = any(kind.id == VOICE for kind in kinds)
    found = [
        ChildSpec(
            "worker",
            worker,
            WORKER_GRACE_S,
            hopeless=WORKER_GAVE_UP,
            niceness=worker_niceness,
            environment=tuple(own),
        ),
        *([_waiting_worker(celery, queues, waits)] if waits else []),
        ChildSpec("drawing", drawing, DRAWING_GRACE_S, hopeless=WORKER_GAVE_UP, niceness=drawing_niceness),
        ChildSpec("beat", beat, BEAT_GRACE_S),
        *(ChildSpec(name, web, WEB_GRACE_S, port, sockets=sockets) for name in web_names),
        *([_calls(host)] if voice_is_on else []),
        *([_ladder()] if settings.WORMARENA_LADDER else []),
    ]
    return [replace(spec, forked=True) for spec in found]


def _calls(host: str) -> ChildSpec:
    """One process, which holds all calls: a connection that was lost finds its call again."""
    port = int(settings.VOICE["port"])
    command = [
        *(sys.executable, "-m", "daphne", "--bind", host, "--port", str(port)),
        *("--application-close-timeout", "1", "--verbosity", "0"),
        *("--no-server-name", "vlaarena.calls:application"),
    ]
    return ChildSpec("voice", command, CALLS_GRACE_S, port)


def _ladder() -> ChildSpec:
    command = [sys.executable, "manage.py", "snake_ladder", *LADDER_PACE]
    return ChildSpec("ladder", command, LADDER_GRACE_S, niceness=LADDER_NICENESS)


def _waiting_worker(celery: Sequence[str], queues: Sequence[str], waits: Sequence[str]) -> ChildSpec:
    """A worker with a thread for each attempt. It takes nothing but attempts, so its own queue stays empty."""
    command = [
        *(*celery, "worker"),
        *("--hostname", f"waiting-{os.getpid()}@%h"),
        *("--pool", "threads"),
        *("--concurrency", str(settings.WAITING_THREADS)),
        *("--queues", f"{queues[0]}.waiting"),
        *("--loglevel", "INFO"),
        *("--without-gossip", "--without-mingle"),
    ]
    own = (("ARENA_WORKER_KINDS", ",".join(waits)),)
    return ChildSpec("waiting", command, WAITING_GRACE_S, hopeless=WORKER_GAVE_UP, environment=own)
