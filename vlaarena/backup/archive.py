"""The backup file: a tar of `manifest.json`, one `tables/APP.MODEL.jsonl` per table, and `episodes.bson`."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

FORMAT = 1
MANIFEST, EPISODES = "manifest.json", "episodes.bson"
MOST_MANIFEST = 1 << 20  # bytes; a manifest takes a few thousand


class BackupError(Exception):
    """A backup could not be written or restored. The message is shown to the user."""


@dataclass(frozen=True)
class Manifest:
    """Contents of a backup. `files`: member name -> (number of records, SHA-256). `migrations`: the newest per app."""

    made_at: str
    migrations: Mapping[str, str]
    files: Mapping[str, tuple[int, str]]

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **vars(self), "files": {name: list(entry) for name, entry in self.files.items()}}


def table(label: str) -> str:
    """The name of the member that holds the rows of a model."""
    return f"tables/{label}.jsonl"


def add(archive: tarfile.TarFile, name: str, records: Iterable[bytes], files: dict[str, tuple[int, str]]) -> None:
    """Append the records as one member. A temporary file collects them, since a tar header states the size."""
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


def add_manifest(archive: tarfile.TarFile, manifest: Manifest) -> None:
    content = json.dumps(manifest.to_json(), indent=1).encode()
    info = tarfile.TarInfo(MANIFEST)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def read_manifest(archive: tarfile.TarFile) -> Manifest:
    try:
        data = json.loads(member(archive, MANIFEST).read(MOST_MANIFEST))
        files = {name: (int(count), str(digest)) for name, (count, digest) in data["files"].items()}
        migrations = {str(app): str(name) for app, name in data["migrations"].items()}
        found = Manifest(str(data["made_at"]), migrations, files)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise BackupError(f"{MANIFEST} is not that of a backup: {error!r}") from None
    if data.get("format") != FORMAT:
        raise BackupError(f"{MANIFEST}: format {data.get('format')!r}; this arena reads format {FORMAT}")
    return found


def check(archive: tarfile.TarFile, manifest: Manifest, labels: Iterable[str]) -> None:
    """Raises BackupError unless all tables and the episodes are present and every member matches its SHA-256."""
    wanted = {table(label) for label in labels} | {EPISODES}
    if missing := wanted - set(manifest.files):
        raise BackupError(f"the backup lacks {', '.join(sorted(missing))}")
    for name, (_, digest) in manifest.files.items():
        if hashlib.file_digest(member(archive, name), "sha256").hexdigest() != digest:  # type: ignore[arg-type]
            raise BackupError(f"{name} is damaged: its SHA-256 is not the one in {MANIFEST}")


def member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """A member's content. Only plain files are read: a sparse file may claim any size, a link may point anywhere."""
    try:
        found = archive.getmember(name)
    except KeyError:
        raise BackupError(f"{archive.name!s} has no {name}") from None
    stream = archive.extractfile(found) if found.isreg() and not found.issparse() else None
    if stream is None:
        raise BackupError(f"{archive.name!s}: {name} is not a plain file")
    return stream
