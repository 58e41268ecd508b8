"""Fixtures that every test may use. The settings of the run are made in `tests.settings`."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import pymongo
import pytest
from asgiref.sync import SyncToAsync
from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.core.management.commands import flush
from django.db import connections

import vlaarena.urls  # noqa: F401 - registers what moderators see
from arena import store
from tests import servers
from tests.settings import RUN_DIR
from tests.stack import FOR_TESTS, Arena

pytest_plugins = ["tests.side_by_side", "tests.fuzz.summary"]
ARENAS = {"arena_stack", "make_arena"}
ENGINES = {"db", "transactional_db", *ARENAS}
"""Fixtures with which a test asks a database, or a whole arena on the servers that were given."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test-services` runs again: what touches an engine, without the browser, which may take longer."""
    for item in items:
        takes = set(getattr(item, "fixturenames", ()))
        browser, stack = item.get_closest_marker("browser"), item.get_closest_marker("stack")
        if browser or stack or takes & ARENAS:
            item.add_marker(pytest.mark.timeout(900))  # not by speed: see tests.browser.battle_page.PATIENCE_S
        if not browser and (takes & ENGINES or item.get_closest_marker("django_db")):
            item.add_marker(pytest.mark.engine)


@pytest.fixture(scope="session", autouse=True)
def _servers() -> Iterator[None]:
    """Broker, channel layer and episode store, for the whole run; what the run stored is dropped at its end."""
    servers.start()
    try:
        yield
        with pymongo.MongoClient(settings.MONGO_URL, serverSelectionTimeoutMS=2000) as client:
            client.drop_database(settings.MONGO_DATABASE)
        servers.forget(settings.PREFIX)
    finally:
        servers.stop()


@pytest.fixture(scope="session", autouse=True)
def _stores(_servers: None) -> Iterator[None]:
    """Every store that a test names is kept, and closed at the end: none is dropped with its sockets open."""
    named: dict[tuple[str, str, int], store.EpisodeStore] = {}
    one_at_a_time = threading.Lock()

    def kept(url: str, database: str, process_id: int) -> store.EpisodeStore:
        key = (url, database, process_id)
        with one_at_a_time:
            if key not in named:
                named[key] = store.EpisodeStore(url, database)
            return named[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "_store", kept)
        yield
    for (_, _, process_id), one in named.items():
        if process_id == os.getpid():
            one.close()


@pytest.fixture(autouse=True)
def _nothing_cached() -> None:
    """What the test before left in the cache, such as that there are games, is not true of this one's database."""
    cache.clear()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """What asynchronous tests ask of the database is asked in one thread, whose connection is closed before the end."""
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


@pytest.fixture(scope="session", autouse=True)
def _health(_servers: None) -> Iterator[None]:
    """No worker is beside the tests of one process: /api/health and the status page need not wait for its answer."""
    from vlaarena import health  # once Django is set up

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(health, "WORKER_ANSWERS_S", 0.05)
        yield
    health._mongo().close()


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_quickly() -> Iterator[None]:
    """After a test with transactions Django empties all tables, and writes content types and permissions anew, which
    takes longer than many a test. They are always the same, so they stay. Rows are deleted: PostgreSQL's TRUNCATE makes
    new files for each table and its indexes, although most tables are empty. Foreign keys are checked at the end.
    """
    kept = {ContentType._meta.db_table, Permission._meta.db_table}

    def emptied(style: Any, connection: Any, **how: bool) -> list[str]:
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        names = [connection.ops.quote_name(name) for name in tables if name not in kept]
        return [f"DELETE FROM {name}" for name in names]  # noqa: S608 - names of our own tables

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "sql_flush", emptied)
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_: None)
        yield


def pytest_unconfigure() -> None:
    shutil.rmtree(RUN_DIR, ignore_errors=True)


@pytest.fixture(scope="session")
def arena_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """The whole arena, as `make run` starts it, started once for all tests that talk to it: `.url` is its address.

    Tests share it, so each plays in sessions of its own. It needs what `make install` builds.
    """
    arena = Arena(tmp_path_factory.mktemp("arena"), **FOR_TESTS)
    try:
        arena.start()
        yield arena
    finally:
        arena.close()


@pytest.fixture
def behind_a_proxy(settings: Any) -> None:
    """X-Forwarded-For is believed, as it is written by one proxy of ours: for `tests.crowd`."""
    settings.TRUSTED_PROXIES = 1
