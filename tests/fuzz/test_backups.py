"""Files that somebody asks to restore: a BackupError in words, and nothing of them in the database."""

from __future__ import annotations

import copy
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bson
import pytest
from django.db import connection
from hypothesis import strategies as st

from arena.models import Session
from arena.store import get_store
from policies.models import Policy
from tests.factories import PolicyFactory
from tests.fuzz.damage import ODD, damaged, damaged_bytes
from tests.fuzz.effort import fuzz
from vlaarena import backup
from vlaarena.backup import EPISODES, MANIFEST, BackupError

ROW = {"model": "policies.policy", "pk": "left", "fields": {"name": "Left", "family": "film", "adapter": "film"}}
SESSION = {
    "model": "arena.session",
    "pk": 1,
    "fields": {"session_id": "sess_" + "0" * 32, "robot_id": "widowx", "scene_id": "table", "user_id": "u"},
}
EPISODE = {"_id": "ep_" + "0" * 32, "attempt": 1, "actions": []}


@pytest.fixture
def saved(transactional_db: None, tmp_path: Path) -> dict[str, bytes]:
    """The members of a backup of an arena with one policy, and nothing in the store that other tests left."""
    get_store().delete(list(get_store().ids()))
    PolicyFactory(id="left")
    backup.save(tmp_path / "good.tar")
    with tarfile.open(tmp_path / "good.tar") as archive:
        members = {name: archive.extractfile(name) for name in archive.getnames()}
        return {name: stream.read() for name, stream in members.items() if stream is not None}


def packed(members: Mapping[str, bytes], *, true_sums: bool = True) -> bytes:
    """The members as a tar; the manifest tells their true sums, unless it is to stay as it is."""
    members = dict(members)
    if true_sums:
        manifest = json.loads(members[MANIFEST])
        for name, content in members.items():
            if name != MANIFEST:
                manifest["files"][name] = [0, hashlib.sha256(content).hexdigest()]
        members[MANIFEST] = json.dumps(manifest).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def restored(path: Path, content: bytes) -> bool:
    """Whether the arena took it. Where it refuses, its rows are as they were."""
    Session.objects.all().delete()
    get_store().delete(list(get_store().ids()))
    before = list(Policy.objects.values_list("id", flat=True))
    path.write_bytes(content)
    try:
        backup.restore(path)
    except BackupError:
        assert not connection.needs_rollback
        assert list(Policy.objects.values_list("id", flat=True)) == before
        return False
    return True


@fuzz("backups", 25, data=st.data())
def test_a_spoilt_file_is_restored_or_refused(saved: dict[str, bytes], tmp_path: Path, data: st.DataObject) -> None:
    restored(tmp_path / "spoilt.tar", data.draw(damaged_bytes(packed(saved, true_sums=False))))


@fuzz("backups", 25, data=st.data())
def test_a_spoilt_manifest_is_kept_to_or_refused(saved: dict[str, bytes], tmp_path: Path, data: st.DataObject) -> None:
    manifest = data.draw(damaged(json.loads(saved[MANIFEST])))
    content = packed({**saved, MANIFEST: json.dumps(manifest).encode()}, true_sums=False)
    restored(tmp_path / "spoilt.tar", content)


@fuzz("backups", 25, data=st.data())
def test_rows_that_fit_no_table_are_refused(saved: dict[str, bytes], tmp_path: Path, data: st.DataObject) -> None:
    name, row = data.draw(st.sampled_from([("policies.Policy", ROW), ("arena.Session", SESSION)]))
    line = json.dumps(data.draw(damaged(copy.deepcopy(row)))).encode()
    content = data.draw(st.one_of(st.just(line + b"\n"), damaged_bytes(line), st.binary(max_size=30)))
    restored(tmp_path / "spoilt.tar", packed({**saved, f"tables/{name}.jsonl": content}))


def encoded(document: Any) -> bytes:
    try:
        return bson.encode(document)
    except (bson.errors.BSONError, TypeError, OverflowError, UnicodeEncodeError, ValueError):
        return bytes(str(document), "utf-8", "replace")


@fuzz("backups", 25, data=st.data())
def test_documents_that_are_no_episodes_are_refused(
    saved: dict[str, bytes], tmp_path: Path, data: st.DataObject
) -> None:
    content = data.draw(st.one_of(damaged(EPISODE).map(encoded), damaged_bytes(bson.encode(EPISODE))))
    restored(tmp_path / "spoilt.tar", packed({**saved, EPISODES: content}))


def test_a_member_that_claims_terabytes_is_refused(saved: dict[str, bytes], tmp_path: Path) -> None:
    """A sparse member: a few bytes that stand for as many zeros as they like."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo(MANIFEST)
        info.pax_headers = {"GNU.sparse.size": str(1 << 42), "GNU.sparse.numblocks": "0", "GNU.sparse.map": ""}
        archive.addfile(info)
    (tmp_path / "sparse.tar").write_bytes(out.getvalue())
    with pytest.raises(BackupError):
        backup.restore(tmp_path / "sparse.tar")


def test_a_link_in_place_of_a_member_is_refused(saved: dict[str, bytes], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        link = tarfile.TarInfo(MANIFEST)
        link.type, link.linkname = tarfile.SYMTYPE, MANIFEST
        archive.addfile(link)
    with pytest.raises(BackupError, match="not a plain file"):
        backup.restore(tmp_path / "links.tar")


def test_a_compressed_file_is_refused_without_unpacking_it(saved: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "bomb.tar").write_bytes(gzip.compress(packed(saved)))
    with pytest.raises(BackupError, match="cannot be read"):
        backup.restore(tmp_path / "bomb.tar")


@pytest.mark.parametrize("odd", [value for value in ODD if not isinstance(value, str) or value.isascii()], ids=repr)
def test_a_document_without_an_id_is_refused_in_words(saved: dict[str, bytes], tmp_path: Path, odd: Any) -> None:
    if isinstance(odd, str):
        odd = [odd]
    content = packed({**saved, EPISODES: encoded({"_id": odd, "attempt": 1})})
    (tmp_path / "odd.tar").write_bytes(content)
    with pytest.raises(BackupError, match=r"not an episode|damaged"):
        backup.restore(tmp_path / "odd.tar")
