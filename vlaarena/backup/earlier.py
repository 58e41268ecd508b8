"""Backups of earlier releases: their rows as those of today.

The schema of that release is made in a database of its own, filled from the backup and migrated as a database in use
would be. Only the release's own models, as its migrations tell them, know what its tables and columns were.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps as today
from django.apps.registry import Apps
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import load_backend

from vlaarena.backup.archive import BackupError
from vlaarena.backup.rows import Open, lines, load, tables

SQLITE = "django.db.backends.sqlite3"
QUICK = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"  # a crash throws it away


class Release:
    """A release of the arena, told by the newest migration of each app. Raises BackupError when it is a later one."""

    def __init__(self, migrations: Mapping[str, str]) -> None:
        executor = MigrationExecutor(connection)
        graph = executor.loader.graph
        self._newest = sorted(migrations.items())
        if unknown := [".".join(key) for key in self._newest if key not in graph.nodes]:
            raise BackupError(
                f"a later release made it: this one does not know its migrations {', '.join(unknown)}; "
                "restore with a release that has them"
            )
        if executor.migration_plan(graph.leaf_nodes()):
            raise BackupError("this arena's database is not that of its release: run manage.py migrate first")
        self.is_ours = migrations == newest_migrations()
        self.apps: Apps = today if self.is_ours else executor.loader.project_state(self._newest).apps

    def labels(self) -> list[str]:
        """The tables that its backups hold, as APP.MODEL."""
        return [model._meta.label for model in tables(self.apps)]

    @contextmanager
    def upgraded(self, opened: Open) -> Iterator[Open]:
        """Rows of this release as rows of today."""
        with tempfile.TemporaryDirectory() as folder:
            with scratch_database(Path(folder) / "arena.sqlite3"):
                self.fill(opened)
                call_command("migrate", interactive=False, verbosity=0)
                for model in tables(today):
                    with (Path(folder) / f"{model._meta.label}.jsonl").open("wb") as written:
                        written.writelines(lines(model))
            yield lambda label: (Path(folder) / f"{label}.jsonl").open("rb")

    def fill(self, opened: Open) -> None:
        MigrationExecutor(connection).migrate(self._newest)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS, apps=self.apps)
        with transaction.atomic():
            load(self.apps, opened)


def newest_migrations() -> dict[str, str]:
    """The newest migration of each app that the database has."""
    newest: dict[str, str] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        newest[app] = name
    return newest


@contextmanager
def scratch_database(file: Path) -> Iterator[None]:
    """A new SQLite database as this thread's `default`: migrations may ask no other, whichever they name."""
    usual = connections[DEFAULT_DB_ALIAS]
    settings = connections.configure_settings(
        {DEFAULT_DB_ALIAS: {"ENGINE": SQLITE, "NAME": str(file), "OPTIONS": {"init_command": QUICK}}}
    )[DEFAULT_DB_ALIAS]
    scratch: BaseDatabaseWrapper = load_backend(SQLITE).DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    try:
        connections[DEFAULT_DB_ALIAS] = scratch
        ContentType.objects.clear_cache()  # it remembers numbers by the name of the database
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = usual
        ContentType.objects.clear_cache()
        scratch.close()
