"""A worker's start and end: it loads libraries and contestants, and announces what it hosts."""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
from collections.abc import Iterator
from typing import Any

from celery import current_app
from celery.signals import (
    celeryd_after_setup,
    task_postrun,
    worker_init,
    worker_process_init,
    worker_ready,
    worker_shutdown,
)
from django.db import DatabaseError, close_old_connections, connection
from kombu.entity import Exchange, Queue
from kombu.exceptions import KombuError

from arena.live import release
from arena.queue import hosting
from arena.queue.tending import Tender

log = logging.getLogger(__name__)


def load_libraries(**_: Any) -> None:
    """Before the fork, so that all processes share the memory."""
    for kind in hosting.kinds_here():
        kind.load_libraries()


def take_queues(sender: str, instance: Any, **_: Any) -> None:
    """Before anything is consumed or forked: note the worker's name and size, and take the queues of what it hosts."""
    forks = "prefork" in str(instance.pool_cls.__module__)
    hosting.this.name = sender
    size = int(instance.concurrency)
    hosting.this.processes, hosting.this.threads = (size, 1) if forks else (1, size)
    try:
        for queue in sorted(hosting.queues_of(hosting.announce())):
            instance.app.amqp.queues.select_add(_queue(queue))
            announcer.served.add(queue)
        if unknown := hosting.unknown_names():
            log.warning("ARENA_WORKER_POLICIES names contestants that are not registered: %s", ", ".join(unknown))
    except DatabaseError:
        log.exception("The contestants to host could not be read; trying again soon")
    finally:
        connection.close()  # not to be shared with the processes that are forked next
    if forks:
        share_with_processes()
    else:
        preload()


def share_with_processes() -> None:
    """Open before the fork what all processes need, and keep its memory theirs together: garbage collection would
    write to every object that it looks at, and the system copies each page that one of them writes to.
    """
    try:
        mine = hosting.hosted()
        with still_announced():
            for kind in hosting.kinds_here():
                kind.share([each for each in mine if each.kind == kind.id and hosting.is_to_be_opened(each)])
    except Exception:  # each process then opens its own
        log.exception("Nothing more is shared between the processes of this worker")
    finally:
        connection.close()
    gc.collect()
    gc.freeze()


@contextlib.contextmanager
def still_announced() -> Iterator[None]:
    """Announce what this worker hosts meanwhile. Opening it may take longer than an announcement is believed, and the
    contestants of a kind are not drawn while only workers of other kinds announce theirs. Nothing is forked before the
    thread has ended."""
    ended = threading.Event()
    thread = threading.Thread(target=_announce_until, args=(ended,), name="still-announced", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _announce_until(ended: threading.Event) -> None:
    while not ended.wait(hosting.ANNOUNCE_S):
        try:
            hosting.announce()
        except DatabaseError:
            log.warning("What this worker hosts could not be announced; trying again", exc_info=True)
        finally:
            connection.close()


def drop_inherited_pool(**_: Any) -> None:
    """In a forked process, before its first query. The inherited connection pool has sockets of the parent, which must
    not be used or closed here, and none of the pool's threads. Celery closes the pool, but only after `preload`.
    """
    if connection.vendor == "postgresql":
        connection._connection_pools.pop(connection.alias, None)  # type: ignore[attr-defined] # PostgreSQL's alone


def preload(**_: Any) -> None:
    release.longest_of_any()  # reads the tasks of robots, for which the first attempts would wait
    for kind in hosting.kinds_here():
        kind.prepare()


def sweep_once(**_: Any) -> None:
    """Take care of what the last worker left behind without waiting for beat."""
    from arena.queue import sweeps

    try:
        sweeps.sweep()
    except DatabaseError:
        log.exception("The first sweep failed; beat asks for another soon")


class Announcer:
    """Announces every few seconds what this worker hosts, and adapts the queues that it takes from."""

    def __init__(self) -> None:
        self.served: set[str] = set()  # queues
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, **_: Any) -> None:
        self._ended.clear()
        self._thread = threading.Thread(target=self._run, name="announcer", daemon=True)
        self._thread.start()
        threading.Thread(target=note_what_renders, name="what-renders", daemon=True).start()  # takes seconds

    def stop(self, **_: Any) -> None:
        self._ended.set()
        if self._thread is None:
            return
        self._thread.join(2 * hosting.ANNOUNCE_S)
        try:
            hosting.withdraw()
        except DatabaseError:
            log.warning("The end of this worker could not be announced; what it announced expires")

    def announce(self) -> None:
        """Announce once. Raises DatabaseError, KombuError and OSError."""
        wanted = hosting.queues_of(hosting.announce())
        for queue in sorted(wanted - self.served):
            current_app.control.add_consumer(queue, destination=[hosting.this.name])
        for queue in sorted(self.served - wanted):
            current_app.control.cancel_consumer(queue, destination=[hosting.this.name])
        self.served = wanted

    def _run(self) -> None:
        while not self._ended.wait(hosting.ANNOUNCE_S):
            try:
                self.announce()
            except (DatabaseError, KombuError, OSError):
                log.warning("What this worker hosts could not be announced; trying again", exc_info=True)
            finally:
                connection.close()


def note_what_renders() -> None:
    """Find out the render profile for the next announcement and the queues of workers that render alike."""
    hosting.this.render_profile = next(filter(None, (kind.render_profile() for kind in hosting.kinds_here())), "")


def _queue(name: str) -> Queue:
    """The queue that Celery declares when an attempt is sent."""
    return Queue(name, Exchange(name, type="direct"), routing_key=name)  # type: ignore[no-untyped-call]


announcer = Announcer()
tender = Tender()
worker_init.connect(load_libraries)
celeryd_after_setup.connect(take_queues)
worker_process_init.connect(drop_inherited_pool)
worker_process_init.connect(preload)
task_postrun.connect(close_old_connections)  # Celery would close the pool instead, and each task would open one
worker_ready.connect(sweep_once)
worker_ready.connect(announcer.start)
worker_ready.connect(tender.start)
worker_shutdown.connect(tender.stop)
worker_shutdown.connect(announcer.stop)
