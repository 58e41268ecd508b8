"""The file of a backup: a tar of `manifest.json`, one `tables/APP.MODEL.jsonl` per table and `episodes.bson`."""

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
PIECE = 1 << 20
MOST_MANIFEST = 1 << 20  # bytes; one takes a few thousand


class BackupError(Exception):
    """Why a backup could not be written or restored, in words for people."""


@dataclass(frozen=True)
class Manifest:
    """What a backup says of itself. `files`: name -> [records, sha256]. `migrations`: the newest of each app."""

    made_at: str
    migrations: Mapping[str, str]
    files: Mapping[str, tuple[int, str]]

    def to_json(self) -> dict[str, Any]:
        files = {name: list(entry) for name, entry in self.files.items()}
        return {"format": FORMAT, "made_at": self.made_at, "migrations": dict(self.migrations), "files": files}


def table(label: str) -> str:
    """The member that holds the rows of a model."""
    return f"tables/{label}.jsonl"


# ---- out -----------------------------------------------------------------------------------------------------------


def add(archive: tarfile.TarFile, name: str, records: Iterable[bytes], files: dict[str, tuple[int, str]]) -> None:
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


def add_manifest(archive: tarfile.TarFile, manifest: Manifest) -> None:
    content = json.dumps(manifest.to_json(), indent=1).encode()
    info = tarfile.TarInfo(MANIFEST)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


# ---- in ------------------------------------------------------------------------------------------------------------


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
    """Every table and the episodes are there, and every member is whole and as it was written."""
    wanted = {table(label) for label in labels} | {EPISODES}
    if missing := wanted - set(manifest.files):
        raise BackupError(f"the backup lacks {', '.join(sorted(missing))}")
    for name, (_, digest) in manifest.files.items():
        if _digest(member(archive, name)) != digest:
            raise BackupError(f"{name} is damaged: its SHA-256 is not the one in {MANIFEST}")


def member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """A member's content. Only plain files are taken: a sparse one may claim any size, a link may lead anywhere."""
    try:
        found = archive.getmember(name)
    except KeyError:
        raise BackupError(f"{archive.name!s} has no {name}") from None
    stream = archive.extractfile(found) if found.isreg() and not found.issparse() else None
    if stream is None:
        raise BackupError(f"{archive.name!s}: {name} is not a plain file")
    return stream


def _digest(stream: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := stream.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()
