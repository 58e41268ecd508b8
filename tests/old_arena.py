"""The arena of the release d88c6e0 that `tests/data/release-d88c6e0` holds a backup of."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import bson

from vlaarena.backup import EPISODES, MANIFEST

BACKUP = Path(__file__).parent / "data" / "release-d88c6e0" / "backup.tar.xz"
Json = dict[str, Any]


@dataclass(frozen=True)
class OldArena:
    """The members of its backup by their names."""

    members: dict[str, bytes]

    @property
    def migrations(self) -> dict[str, str]:
        return dict(json.loads(self.members[MANIFEST])["migrations"])

    def opened(self, label: str) -> io.BytesIO:
        return io.BytesIO(self.members[f"tables/{label}.jsonl"])

    def rows(self, label: str) -> list[Json]:
        """The values of each row by the names of its fields, with its key as `pk`."""
        return [{"pk": row["pk"], **row["fields"]} for row in map(json.loads, self.opened(label))]

    def episodes(self) -> list[Json]:
        return cast(list[Json], bson.decode_all(self.members[EPISODES]))

    def with_member(self, name: str, content: bytes) -> OldArena:
        """With other content of one member, whose sum is true."""
        manifest = json.loads(self.members[MANIFEST])
        manifest["files"][name] = [1, hashlib.sha256(content).hexdigest()]
        return OldArena({**self.members, name: content, MANIFEST: json.dumps(manifest).encode()})

    def with_migration(self, app: str, name: str) -> OldArena:
        """As a release writes it whose newest migration of the app is another one."""
        manifest = json.loads(self.members[MANIFEST])
        manifest["migrations"][app] = name
        return OldArena({**self.members, MANIFEST: json.dumps(manifest).encode()})

    def file(self, folder: Path) -> Path:
        """The backup as a file."""
        file = folder / "backup.tar"
        with tarfile.open(file, "w") as archive:
            for name, content in self.members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return file


@cache
def old_arena() -> OldArena:
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(BACKUP.read_bytes()))) as archive:
        members = {name: archive.extractfile(name) for name in archive.getnames()}
        return OldArena({name: stream.read() for name, stream in members.items() if stream is not None})
