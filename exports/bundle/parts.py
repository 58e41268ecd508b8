"""A signed set of files in a zip archive: `manifest.json` names every other part with its SHA-256 and size, and
`manifest.sig` is the signature of the manifest's bytes. No pickle, and nothing is unpacked to disk."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from exports import signing

MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
LARGEST_MANIFEST = 256 << 20
LARGEST_PART = 1 << 30
"""Bytes, unpacked. A part that says it is larger is refused unread."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every part in the archive, so that equal content gives equal bytes."""


class Refused(Exception):
    """A bundle that cannot be trusted. `code` is a stable word, `part` the part of the bundle that it is about."""

    def __init__(self, code: str, part: str, detail: str) -> None:
        super().__init__(f"{code}: {part}: {detail}" if part else f"{code}: {detail}")
        self.code, self.part, self.detail = code, part, detail


class Writer:
    """Writes the parts of a bundle, one at a time."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._parts: dict[str, dict[str, Any]] = {}

    def add(self, name: str, content: bytes) -> None:
        if name in self._parts:
            raise ValueError(f"a bundle has each part once, and {name} is written already")
        self._write(name, content)
        self._parts[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}

    def close(self, about: dict[str, Any]) -> None:
        """Sign and write the manifest: `about`, the public key, and all parts. Raises what `signing.sign` does."""
        manifest = {**about, "public_key": signing.public_key(), "parts": dict(sorted(self._parts.items()))}
        content = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
        self._write(MANIFEST, content)
        self._write(SIGNATURE, signing.sign(content))

    def _write(self, name: str, content: bytes) -> None:
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        self._archive.writestr(entry, content)


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """A bundle that appears at `path`, whole, once the block has ended without an error."""
    number, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            yield Writer(archive)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Reader:
    """Reads a bundle. Each method raises Refused for what is wrong with it."""

    def __init__(self, path: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile as error:
            raise Refused("not_a_bundle", "", f"{path} is no zip archive ({error})") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self._archive.infolist():
            if entry.filename in self._entries:
                raise Refused("part_twice", entry.filename, "the archive has two parts of this name")
            self._entries[entry.filename] = entry
        self.manifest: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._archive.close()

    def check_signature(self, key: str | None) -> None:
        """Read the manifest, and check that `key` signed it; None: that the key named in it did. Raises BadKey for a
        `key` that is none."""
        content = self._raw(MANIFEST, LARGEST_MANIFEST)
        signature = self._raw(SIGNATURE, 1024)
        try:
            manifest = json.loads(content)
            named = signing.checked_key(manifest["public_key"])
            parts = manifest["parts"]
            well_formed = isinstance(parts, dict) and all(
                isinstance(part["sha256"], str) and isinstance(part["bytes"], int) for part in parts.values()
            )
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            well_formed = False
        if not well_formed:
            raise Refused("not_a_bundle", MANIFEST, "expected an object with public_key and parts")
        if key is not None and signing.checked_key(key) != named:
            mine, theirs = signing.fingerprint(key), signing.fingerprint(named)
            raise Refused("another_key", MANIFEST, f"signed by the key {theirs}; expected {mine}")
        if not signing.is_signed(content, signature, named):
            raise Refused("bad_signature", SIGNATURE, "the manifest is not what this key signed")
        self.manifest = manifest

    def check_parts(self) -> None:
        """That the archive holds the parts of the manifest, each with its bytes, and nothing else."""
        listed = {MANIFEST, SIGNATURE, *self.manifest["parts"]}
        for name in sorted(listed - self._entries.keys()):
            raise Refused("missing_part", name, "the manifest names it, and the archive does not have it")
        for name in sorted(self._entries.keys() - listed):
            raise Refused("unlisted_part", name, "the archive has it, and the manifest does not name it")
        for name in self.manifest["parts"]:
            self.read(name)

    def read(self, name: str) -> bytes:
        """A part, compared with the manifest."""
        part = self.manifest["parts"].get(name)
        if part is None:
            raise Refused("missing_part", name, "the manifest does not name it")
        content = self._raw(name, min(part["bytes"], LARGEST_PART))
        if len(content) != part["bytes"] or hashlib.sha256(content).hexdigest() != part["sha256"]:
            raise Refused("changed_part", name, "its bytes are not those that were signed")
        return content

    def json(self, name: str) -> Any:
        return self._parsed(name, self.read(name))

    def rows(self, name: str) -> list[Any]:
        """A part of JSON lines."""
        return [self._parsed(name, line) for line in self.read(name).splitlines() if line]

    def names(self, folder: str) -> list[str]:
        return [name for name in self.manifest["parts"] if name.startswith(f"{folder}/")]

    def _parsed(self, name: str, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise Refused("malformed_part", name, f"it is no JSON: {error}") from None

    def _raw(self, name: str, most: int) -> bytes:
        entry = self._entries.get(name)
        if entry is None:
            raise Refused("missing_part", name, "the archive does not have it")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Refused("changed_part", name, "it is packed in another way than stored or deflated")
        if entry.file_size > most:
            raise Refused("changed_part", name, f"it has {entry.file_size} bytes; expected at most {most}")
        try:
            with self._archive.open(entry) as file:
                content = file.read(most + 1)
        except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError, zlib.error) as error:
            raise Refused("changed_part", name, f"it cannot be unpacked: {error}") from None
        if len(content) > most:
            raise Refused("changed_part", name, f"it has more than {most} bytes")
        return content
