"""Upgrades the rows of a backup that an earlier release wrote.

The schema of that release is created in a scratch database, filled from the backup, and migrated like a database in
use. The models of the release are reconstructed from its migrations, since nothing else describes its tables.
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
QUICK = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"  # not durable, and need not be


class Release:
    """A release of the arena, identified by the newest migration of each app. Raises BackupError for a later one."""

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
        """The tables in its backups, as APP.MODEL."""
        return [model._meta.label for model in tables(self.apps)]

    @contextmanager
    def upgraded(self, opened: Open) -> Iterator[Open]:
        """Yields a reader of this release's rows, migrated to the current schema."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with scratch_database(folder / "arena.sqlite3"):
                self.fill(opened)
                call_command("migrate", interactive=False, verbosity=0)
                for model in tables(today):
                    with (folder / f"{model._meta.label}.jsonl").open("wb") as written:
                        written.writelines(lines(model))
            yield lambda label: (folder / f"{label}.jsonl").open("rb")

    def fill(self, opened: Open) -> None:
        MigrationExecutor(connection).migrate(self._newest)
        emit_post_migrate_signal(verbosity=0, interactive=False, db=DEFAULT_DB_ALIAS, apps=self.apps)
        with transaction.atomic():
            load(self.apps, opened)


def newest_migrations() -> dict[str, str]:
    """App -> the newest migration that was applied to the database."""
    return dict(sorted(MigrationRecorder(connection).applied_migrations()))  # the last name of each app stays


@contextmanager
def scratch_database(file: Path) -> Iterator[None]:
    """Makes a new SQLite database this thread's `default`, the only database that migrations use."""
    usual = connections[DEFAULT_DB_ALIAS]
    settings = connections.configure_settings(
        {DEFAULT_DB_ALIAS: {"ENGINE": SQLITE, "NAME": str(file), "OPTIONS": {"init_command": QUICK}}}
    )[DEFAULT_DB_ALIAS]
    scratch: BaseDatabaseWrapper = load_backend(SQLITE).DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    try:
        connections[DEFAULT_DB_ALIAS] = scratch
        ContentType.objects.clear_cache()  # it caches ids by database alias
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = usual
        ContentType.objects.clear_cache()
        scratch.close()
