"""What a file may claim about its members: only plain ones are taken, and nothing is believed about their size."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from vlaarena.backup import MANIFEST, BackupError, read_manifest

GOOD: dict[str, Any] = {"format": 1, "made_at": "now", "migrations": {"arena": "0001"}, "files": {"x": [1, "abc"]}}


def read(path: Path, member: tarfile.TarInfo, content: bytes = b"") -> Any:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    with tarfile.open(path, "r:") as archive:
        return read_manifest(archive)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = read(tmp_path / "good.tar", tarfile.TarInfo(MANIFEST), json.dumps(GOOD).encode())
    assert found.to_json() == GOOD


@pytest.mark.parametrize(
    "spoilt", [[], {"files": {}}, {**GOOD, "files": {"x": [float("inf"), "a"]}}, {**GOOD, "migrations": []}]
)
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, spoilt: Any) -> None:
    with pytest.raises(BackupError, match="not that of a backup"):
        read(tmp_path / "spoilt.tar", tarfile.TarInfo(MANIFEST), json.dumps(spoilt).encode())


def test_a_sparse_member_that_claims_terabytes_is_refused(tmp_path: Path) -> None:
    sparse = tarfile.TarInfo(MANIFEST)
    sparse.pax_headers = {"GNU.sparse.size": str(1 << 42), "GNU.sparse.numblocks": "0", "GNU.sparse.map": "0,0"}
    with pytest.raises(BackupError, match="not a plain file"):
        read(tmp_path / "sparse.tar", sparse)


def test_a_link_in_place_of_a_member_is_refused(tmp_path: Path) -> None:
    link = tarfile.TarInfo(MANIFEST)
    link.type, link.linkname = tarfile.SYMTYPE, MANIFEST
    with pytest.raises(BackupError, match="not a plain file"):
        read(tmp_path / "link.tar", link)


def test_a_compressed_file_is_refused_without_unpacking_it(tmp_path: Path) -> None:
    (tmp_path / "bomb.tar").write_bytes(gzip.compress(b"\0" * 10_000))
    with pytest.raises(tarfile.TarError):
        tarfile.open(tmp_path / "bomb.tar", "r:").close()
