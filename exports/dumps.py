"""Hourly dumps: the counts of the publication, preference pairs and models, with a signed manifest, as files.

A dump is a folder of `settings.DUMPS_FOLDER` named by its hour (UTC), and appears whole. Beside its public files it
keeps `.rows`, a digest of each row. When a row may no longer be public, because it was hidden, reported or deleted, the
next run deletes every dump that has it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.utils import timezone

from arena.kinds import Kind
from arena.models import Contestant, Turn
from exports import publishable, signing
from exports.bundle.writing import ABOUT_MODELS, NotPublished
from exports.preferences import Row, line, pairs, write_pairs
from rankings.models import Snapshot

MANIFEST, SIGNATURE, LICENSE = "manifest.json", "manifest.sig", "LICENSE.txt"
PAIRS = ("preferences.jsonl.gz", "preferences.parquet")
FILES = (MANIFEST, SIGNATURE, LICENSE, "counts.csv.gz", "models.jsonl", *PAIRS)
"""The names that a dump has addresses for."""
FORMAT, VERSION = "vla-arena-dump", 1
NAME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}Z\Z")
ROWS = ".rows"
LATEST = "latest"


def write_dump(kind: Kind) -> Path | None:
    """Write the dump of this hour, then delete those that are too old or have rows that may not be public any more.

    None if there is one already. Raises NotPublished, StoreUnavailable, OSError and what `signing.sign` raises; then
    there is no new dump, and the old ones are as they were.
    """
    folder = settings.DUMPS_FOLDER
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    name = f"{timezone.now():%Y-%m-%dT%H}Z"
    found = None
    if not (folder / name).exists():
        found = _written(kind, folder, name)
    withdraw(kind)
    thin_out()
    return found


def names() -> list[str]:
    """The dumps that are there, newest first."""
    folder = settings.DUMPS_FOLDER
    if not folder.is_dir():
        return []
    return sorted((path.name for path in folder.iterdir() if NAME.match(path.name)), reverse=True)


def manifest_of(name: str) -> dict[str, Any] | None:
    """None if the dump has just been deleted."""
    try:
        return dict(json.loads((settings.DUMPS_FOLDER / name / MANIFEST).read_bytes()))
    except FileNotFoundError:
        return None


def find(name: str, file: str) -> Path | None:
    """The path of a file of a dump; LATEST is the newest one. None if there is no such file."""
    known = names()
    name = known[0] if name == LATEST and known else name
    if name not in known or file not in FILES:
        return None
    path: Path = settings.DUMPS_FOLDER / name / file
    return path if path.is_file() else None


def withdraw(kind: Kind) -> list[str]:
    """Delete the dumps with a row that may no longer be public; answers their names."""
    battles = publishable.visible_votes(kind).values("battle_id")
    rows = Turn.objects.filter(battle__in=battles, is_fork=False).values_list("turn_id", "instruction")
    public = _digests(rows.iterator(chunk_size=20_000))
    gone = [name for name in names() if len(np.setdiff1d(_rows_of(name), public))]
    for name in gone:
        shutil.rmtree(settings.DUMPS_FOLDER / name, ignore_errors=True)
    return gone


def thin_out(now: datetime | None = None) -> None:
    """Keep the newest `DUMP_HOURS` dumps, and the last one of each of the newest `DUMP_DAYS` days."""
    since = f"{(now or timezone.now()) - timedelta(days=settings.DUMP_DAYS):%Y-%m-%dT%H}Z"
    kept, days = set(names()[: settings.DUMP_HOURS]), set[str]()
    for name in names():
        if name >= since and name[:10] not in days:
            days.add(name[:10])
            kept.add(name)
    for name in set(names()) - kept:
        shutil.rmtree(settings.DUMPS_FOLDER / name, ignore_errors=True)


def _written(kind: Kind, folder: Path, name: str) -> Path:
    temporary = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        _write_files(kind, temporary, name)
        temporary.chmod(0o755)
        temporary.rename(folder / name)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    return folder / name


def _write_files(kind: Kind, folder: Path, name: str) -> None:
    snapshot = Snapshot.objects.filter(kind=kind.id).first()
    if snapshot is None:
        raise NotPublished(f"no boards of {kind.id} are published yet")
    rows = list(pairs(kind, known=_rows_of_last_dump()))
    (folder / "counts.csv.gz").write_bytes(bytes(snapshot.counts))
    with gzip.GzipFile(folder / PAIRS[0], "wb", mtime=0) as file:
        file.writelines(line(row).encode() for row in rows)
    write_pairs(folder / PAIRS[1], rows)
    models = Contestant.objects.filter(kind=kind.id).order_by("pk").values(*ABOUT_MODELS)
    (folder / "models.jsonl").write_text("".join(map(line, models)), encoding="utf-8")
    (folder / LICENSE).write_text(licence_text(), encoding="utf-8")
    _digests((row["turn_id"], row["instruction"]) for row in rows).tofile(folder / ROWS)
    content = json.dumps(_manifest(kind, snapshot, folder, name, len(rows)), indent=1).encode()
    (folder / MANIFEST).write_bytes(content)
    (folder / SIGNATURE).write_bytes(signing.sign(content))


def _manifest(kind: Kind, snapshot: Snapshot, folder: Path, name: str, rows: int) -> Mapping[str, Any]:
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name in FILES}
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "kind": kind.id,
        "license": settings.DATA_LICENSE,
        "license_url": settings.DATA_LICENSE_URL,
        "publication": {"made_at": snapshot.made_at.isoformat(), "input_hash": snapshot.input_hash},
        "preference_pairs": rows,
        "public_key": signing.public_key(),
        "files": {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for name, content in files.items()
        },
    }


def licence_text() -> str:
    return (
        f"The votes, instructions and recordings in this dump are under {settings.DATA_LICENSE}.\n"
        f"{settings.DATA_LICENSE_URL}\n"
        "They come from people who were told that battles are published once they have voted. No row names a person. "
        "Do not try to find out who voted or wrote.\n"
        "Models, meshes and software have licences of their own, which this one does not change.\n"
    )


def _rows_of_last_dump() -> dict[str, Row]:
    """By turn."""
    for name in names()[:1]:
        with gzip.open(settings.DUMPS_FOLDER / name / PAIRS[0], "rt", encoding="utf-8") as file:
            return {row["turn_id"]: row for row in map(json.loads, file)}
    return {}


def _digests(rows: Iterable[tuple[str, str]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """(rows,) one number per turn and its words, sorted."""
    return np.unique(np.fromiter(_numbers(rows), dtype=np.uint64))


def _numbers(rows: Iterable[tuple[str, str]]) -> Iterator[int]:
    for turn_id, instruction in rows:
        content = f"{turn_id}\0{instruction}".encode(errors="surrogatepass")
        yield int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _rows_of(name: str) -> np.ndarray[Any, np.dtype[np.uint64]]:
    path = settings.DUMPS_FOLDER / name / ROWS
    return np.fromfile(path, dtype=np.uint64) if path.exists() else np.zeros(1, np.uint64)
