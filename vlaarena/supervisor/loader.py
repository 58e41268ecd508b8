"""Loads the site once, and forks the parts of an arena, which share its memory.

`python -m vlaarena.supervisor.loader FD ...`: the first FD is a socket to the supervisor, others are those of which a
part may keep some. The supervisor sends an order for each part: the JSON of an `Order`, and the file for the part's
output. The answers are JSON, too: {"kinds": those that the site offers} at the beginning, {"started": pid} for each
order, and {"ended": pid, "status": of waitpid}. This process has one thread and no connection: a fork takes nothing
along that a part must not use.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import selectors
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module

from vlaarena.supervisor import launch

MOST_BYTES = 65536
"""Of an order or an answer."""
LIBRARIES = (
    *("celery.apps.worker", "celery.bin.celery", "celery.bin.worker", "celery.concurrency.asynpool"),
    *("celery.concurrency.prefork", "celery.worker.components", "celery.worker.consumer", "celery.worker.loops"),
    *("celery.worker.strategy", "channels_redis.core", "kombu.transport.redis", "pymongo.synchronous.auth"),
    "vlaarena.urls",
)
"""Those that two parts or more would load, each for itself, and all that pages need, of which workers need a part."""


@dataclass(frozen=True)
class Order:
    """A part to fork. `command`: what would start it alone, `PYTHON -m MODULE ...` or `PYTHON FILE ...`. `environment`:
    variables of its own. `sockets`: file descriptors that it alone of all parts keeps."""

    command: Sequence[str]
    niceness: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    sockets: Sequence[int] = ()

    def packed(self) -> bytes:
        return json.dumps(asdict(self)).encode()


def main(orders: socket.socket, sockets: Sequence[int]) -> None:
    """Serves until the supervisor is gone. Returns in no other process than this: a part ends with its command."""
    load()
    tell(orders, kinds=offered())
    part = serve(orders)
    if part is None:
        return
    for number in {*sockets} - {*part.sockets}:
        os.close(number)
    become(part)


def load() -> None:
    """What all parts need, or several of them. Later garbage collection leaves it alone: it would write to every object
    that they share, and each page that is written to is copied."""
    import django

    django.setup()
    for name in LIBRARIES:
        import_module(name)
    from django.db import connections

    from arena import kinds

    for kind in kinds.offered():
        kind.load_for_parts()
    connections.close_all()
    gc.disable()
    gc.collect()
    gc.freeze()


def offered() -> list[tuple[str, bool]]:
    """Id of each kind that the site offers, and whether it waits (`arena.kinds.Kind`)."""
    from arena import kinds

    return [(kind.id, kind.waits) for kind in kinds.offered()]


def serve(orders: socket.socket) -> Order | None:
    """Forks what is ordered, and tells what has ended. Returns the order in a part, and None when nobody orders any
    more."""
    with contextlib.closing(orders), selectors.DefaultSelector() as waiting:
        waiting.register(orders, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is not orders:
                    waiting.unregister(key.fileobj)
                    os.close(key.fd)
                    _, status = os.waitpid(key.data, 0)
                    tell(orders, ended=key.data, status=status)
                    continue
                order, output = receive(orders)
                if order is None:
                    return None
                parent = os.getpid()
                if not (pid := os.fork()):
                    take_leave(parent, output)
                    return order
                os.close(output)
                waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, pid)
                tell(orders, started=pid)


def receive(orders: socket.socket) -> tuple[Order | None, int]:
    """The next order and the file for the output of its part; None when the supervisor is gone."""
    content, files, _, _ = socket.recv_fds(orders, MOST_BYTES, 1)
    return (Order(**json.loads(content)), files[0]) if content else (None, -1)


def tell(orders: socket.socket, **what: object) -> None:
    with contextlib.suppress(OSError):  # the supervisor is gone, and the next order says so
        orders.send(json.dumps(what).encode())


def take_leave(parent: int, output: int) -> None:
    """In a part: as a process of its own, which ends with the loader, and so with the supervisor."""
    os.setsid()
    launch.end_with(parent)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)


def become(part: Order) -> None:
    """Runs the command here."""
    launch.be_nice(part.niceness)
    os.environ.update(part.environment)
    _read_again()
    gc.enable()
    _, *rest = part.command
    if rest[0] == "-m":
        sys.argv = rest[1:]
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = rest
        runpy.run_path(rest[0], run_name="__main__")


def _read_again() -> None:
    """The settings of which a part may have its own."""
    from django.conf import settings

    from vlaarena import env

    settings.WORKER_KINDS = env.words("ARENA_WORKER_KINDS", [])


if __name__ == "__main__":
    first, *more = (int(number) for number in sys.argv[1:])
    main(socket.socket(fileno=first), more)
