"""Everything the arena holds as one file, and back: relations from any database, episodes from any store.

A tar of `manifest.json`, one `tables/APP.MODEL.jsonl` per table and `episodes.bson` (documents one after another). It
depends on no engine: what was saved from SQLite can be restored into PostgreSQL. Rows come from one transaction;
episodes are read after them, and an episode is stored before its row says so, so every completed rollout has its own.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import bson
from bson.errors import BSONError
from django.apps import apps
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder

from arena.steady_view import steady_view
from arena.store import EpisodeStore, EpisodeSuperseded, get_store

FORMAT = 1
# Made anew by migrating, of no use elsewhere, or to be gone after a while wherever a copy lies.
LEFT_OUT = {"contenttypes.ContentType", "auth.Permission", "sessions.Session", "arena.NetworkKey"}
MANIFEST, EPISODES = "manifest.json", "episodes.bson"
PIECE = 1 << 20
MOST_MANIFEST = 1 << 20  # bytes; one takes a few thousand


class BackupError(Exception):
    """Why a backup could not be written or restored, in words for people."""


class ExactTimes(DjangoJSONEncoder):
    """Moments to the microsecond; Django's own encoder cuts them to milliseconds."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself. `files`: name -> [records, sha256]. `migrations`: the newest of each app."""

    made_at: str
    migrations: Mapping[str, str]
    files: Mapping[str, tuple[int, str]]

    def to_json(self) -> dict[str, Any]:
        files = {name: list(entry) for name, entry in self.files.items()}
        return {"format": FORMAT, "made_at": self.made_at, "migrations": dict(self.migrations), "files": files}


def save(target: Path) -> Manifest:
    """Write a backup to a file that does not exist yet. Raises BackupError; a failed one leaves no file behind."""
    if target.exists():
        raise BackupError(f"{target} exists already; name a new file")
    files: dict[str, tuple[int, str]] = {}
    draft = target.with_name(f".{target.name}.part")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600, exist_ok=False)  # it holds password hashes and the keys of second factors
        with tarfile.open(draft, "w") as archive:
            with steady_view():
                for model in tables():
                    _add(archive, f"tables/{model._meta.label}.jsonl", _rows(model), files)
            _add(archive, EPISODES, _episodes(get_store()), files)
            manifest = Manifest(datetime.now(UTC).isoformat(), newest_migrations(), files)
            _add_bytes(archive, MANIFEST, json.dumps(manifest.to_json(), indent=1).encode())
        with draft.open("rb") as written:
            os.fsync(written.fileno())  # what is said to be saved outlives a power cut
        draft.rename(target)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error}") from error
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def restore(source: Path) -> Manifest:
    """Fill an arena that holds no sessions and votes from a backup: all of it, or nothing of the relations.

    Raises BackupError when the file is damaged, of another version, or the arena is in use.
    """
    _refuse_used_arena()
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = read_manifest(archive)
            _check(archive, manifest)
            _store_episodes(archive, get_store())
            with transaction.atomic():
                _load_tables(archive)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise BackupError(f"{source} cannot be read: {error}") from error
    except (DeserializationError, DatabaseError, ValueError, TypeError, LookupError, OverflowError) as error:
        raise BackupError(f"{source}: its rows do not fit this arena: {error}") from error
    return manifest


def tables() -> list[type[models.Model]]:
    """Every table that is kept, in an order that stays."""
    found = [model for model in apps.get_models() if model._meta.label not in LEFT_OUT and model._meta.managed]
    return sorted(found, key=lambda model: model._meta.label)


def newest_migrations() -> dict[str, str]:
    newest: dict[str, str] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        newest[app] = name
    return newest


def read_manifest(archive: tarfile.TarFile) -> Manifest:
    try:
        data = json.loads(_member(archive, MANIFEST).read(MOST_MANIFEST))
        files = {name: (int(count), str(digest)) for name, (count, digest) in data["files"].items()}
        migrations = {str(app): str(name) for app, name in data["migrations"].items()}
        found = Manifest(str(data["made_at"]), migrations, files)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BackupError(f"{MANIFEST} is not that of a backup: {error!r}") from None
    if data.get("format") != FORMAT:
        raise BackupError(f"{MANIFEST}: format {data.get('format')!r}; this arena reads format {FORMAT}")
    return found


# ---- out -----------------------------------------------------------------------------------------------------------


def _rows(model: type[models.Model]) -> Iterator[bytes]:
    """One JSON line per row, by primary key."""
    rows = model._base_manager.order_by("pk").iterator(chunk_size=500)
    for row in rows:
        yield serializers.serialize("jsonl", [row], use_natural_foreign_keys=True, cls=ExactTimes).encode()


def _episodes(store: EpisodeStore) -> Iterator[bytes]:
    for episode_id in store.ids():
        document = store.get(episode_id)
        if document is not None:
            yield bson.encode(document)


def _add(archive: tarfile.TarFile, name: str, records: Iterable[bytes], files: dict[str, tuple[int, str]]) -> None:
    """Records one after another as one member; its size must be known first, so they pass through a temporary file."""
    count, digest = 0, hashlib.sha256()
    with tempfile.TemporaryFile() as spool:
        for record in records:
            spool.write(record)
            digest.update(record)
            count += 1
        info = tarfile.TarInfo(name)
        info.size = spool.tell()
        spool.seek(0)
        archive.addfile(info, spool)
    files[name] = (count, digest.hexdigest())


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


# ---- in ------------------------------------------------------------------------------------------------------------


def _refuse_used_arena() -> None:
    kinds = apps.get_app_config("arena").get_models()
    used = [str(model._meta.verbose_name_plural) for model in kinds if model._base_manager.exists()]
    if used:
        raise BackupError(f"this arena already holds {', '.join(used)}; restore into a new one")


def _check(archive: tarfile.TarFile, manifest: Manifest) -> None:
    """Every member whole and as it was written, and of the database that we have, before anything is changed."""
    if manifest.migrations != (ours := newest_migrations()):
        theirs = manifest.migrations
        differing = sorted(app for app in {*ours, *theirs} if ours.get(app) != theirs.get(app))
        told = "; ".join(f"{app}: backup {theirs.get(app)}, here {ours.get(app)}" for app in differing)
        raise BackupError(f"another version of the arena made it ({told}): restore with that one, then migrate")
    wanted = {f"tables/{model._meta.label}.jsonl" for model in tables()} | {EPISODES}
    if missing := wanted - set(manifest.files):
        raise BackupError(f"the backup lacks {', '.join(sorted(missing))}")
    for name, (_, digest) in manifest.files.items():
        if _digest(_member(archive, name)) != digest:
            raise BackupError(f"{name} is damaged: its SHA-256 is not the one in {MANIFEST}")


def _digest(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := stream.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """A member's content. Only plain files are taken: a sparse one may claim any size, a link may lead anywhere."""
    try:
        found = archive.getmember(name)
    except KeyError:
        raise BackupError(f"{archive.name!s} has no {name}") from None
    stream = archive.extractfile(found) if found.isreg() and not found.issparse() else None
    if stream is None:
        raise BackupError(f"{archive.name!s}: {name} is not a plain file")
    return stream


def _load_tables(archive: tarfile.TarFile) -> None:
    """Rows in place of those that a fresh arena is seeded with; keys are checked once, at the end."""
    kept = tables()
    for model in apps.get_models(include_auto_created=True):  # those that join two tables as well
        if model._meta.label not in LEFT_OUT and model._meta.managed:
            model._base_manager.all()._raw_delete(using="default")
    for model in kept:
        lines = io.TextIOWrapper(_member(archive, f"tables/{model._meta.label}.jsonl"), "utf-8")
        for row in serializers.deserialize("jsonl", lines):
            row.save()
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), kept):
            cursor.execute(statement)


def _store_episodes(archive: tarfile.TarFile, store: EpisodeStore) -> None:
    """Before the rows: an episode without a row is harmless, and saving it again changes nothing."""
    try:
        for document in bson.decode_file_iter(_member(archive, EPISODES)):
            if not isinstance(document.get("_id"), str) or not isinstance(document.get("attempt"), int):
                raise BackupError(f"{EPISODES} holds a document that is no episode: it has no _id or no attempt")
            store.save(document)
    except EpisodeSuperseded as error:
        raise BackupError(f"the episode store is not new: {error}") from None
    except BSONError as error:
        raise BackupError(f"{EPISODES} is damaged: {error}") from None
