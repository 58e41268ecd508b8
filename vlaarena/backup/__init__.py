"""Backup and restore of the whole arena as one file: rows from any database, episodes from any store.

The format is independent of the engine and of the release: a backup of SQLite can be restored into PostgreSQL, and a
backup of an earlier release into this one. All rows are read in one transaction, and the episodes after it. An episode
is stored before its row is settled, so the backup holds the episode of every completed rollout.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import bson
from bson.errors import BSONError
from django.apps import apps
from django.core.serializers.base import DeserializationError
from django.db import DatabaseError, transaction

from arena.consistent_read import consistent_read
from arena.models import Session
from arena.store import EpisodeStore, EpisodeSuperseded, get_store
from vlaarena.backup import archive as archives
from vlaarena.backup import rows
from vlaarena.backup.archive import EPISODES, MANIFEST, BackupError, Manifest, read_manifest
from vlaarena.backup.earlier import Release, newest_migrations

__all__ = ["EPISODES", "MANIFEST", "BackupError", "Manifest", "read_manifest", "restore", "save"]


def save(target: Path) -> Manifest:
    """Write a backup to a new file. Raises BackupError and leaves no file behind when it fails."""
    if target.exists():
        raise BackupError(f"{target} exists already; name a new file")
    files: dict[str, tuple[int, str]] = {}
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600, exist_ok=False)  # it holds password hashes and second-factor keys
        with tarfile.open(draft, "w") as archive:
            with consistent_read():
                for model in rows.tables(apps):
                    archives.add(archive, archives.table(model._meta.label), rows.lines(model), files)
            archives.add(archive, EPISODES, _episodes(get_store()), files)
            manifest = Manifest(datetime.now(UTC).isoformat(), newest_migrations(), files)
            archives.add_manifest(archive, manifest)
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # a backup that was reported as saved must survive a power cut
        draft.rename(target)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def restore(source: Path) -> Manifest:
    """Fill an arena without sessions and votes from a backup. The rows are restored in one transaction.

    Raises BackupError when the file is damaged or from a later release, or when the arena is in use.
    """
    if Session.objects.exists():
        raise BackupError("this arena already holds sessions; restore into a new one")
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = read_manifest(archive)
            release = Release(manifest.migrations)
            archives.check(archive, manifest, release.labels())

            def opened(label: str) -> IO[bytes]:
                return archives.member(archive, archives.table(label))

            with nullcontext(opened) if release.is_ours else release.upgraded(opened) as ready:
                _store_episodes(archive, get_store())
                with transaction.atomic():
                    rows.load(apps, ready)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise BackupError(f"{source} cannot be read: {error}") from error
    except (DeserializationError, DatabaseError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise BackupError(f"{source}: its rows do not fit this arena: {error}") from error
    return manifest


def _episodes(store: EpisodeStore) -> Iterator[bytes]:
    for episode_id in store.ids():
        document = store.get(episode_id)
        if document is not None:
            yield bson.encode(document)


def _store_episodes(archive: tarfile.TarFile, store: EpisodeStore) -> None:
    """Runs before the rows are loaded: an episode without a row is harmless, and saving it again changes nothing."""
    try:
        for document in bson.decode_file_iter(archives.member(archive, EPISODES)):
            if not isinstance(document.get("_id"), str) or not isinstance(document.get("attempt"), int):
                raise BackupError(f"{EPISODES} holds a document that is not an episode: it lacks _id or attempt")
            store.save(document)
    except EpisodeSuperseded as error:
        raise BackupError(f"the episode store is not new: {error}") from None
    except BSONError as error:
        raise BackupError(f"{EPISODES} is damaged: {error}") from None
