"""What a worker's process inherits when it is forked, and must not use."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from celery.signals import worker_process_init

from arena.queue import worker

pytestmark = pytest.mark.engine


class Pool:
    """A pool whose sockets belong to the parent."""

    def getconn(self) -> None:
        raise AssertionError("a connection of the parent was used")

    def close(self) -> None:
        raise AssertionError("the parent's connections were closed")


def test_a_forked_process_neither_uses_nor_closes_the_pool_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = {"default": Pool(), "other": Pool()}
    ours = SimpleNamespace(vendor="postgresql", alias="default", _connection_pools=pools)
    monkeypatch.setattr(worker, "connection", ours)
    worker.drop_inherited_pool()
    assert list(pools) == ["other"]


def test_it_leaves_the_pool_before_it_prepares_itself() -> None:
    called = [receiver() for _, receiver in worker_process_init.receivers]
    assert called.index(worker.drop_inherited_pool) < called.index(worker.preload)
