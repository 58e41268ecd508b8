"""The files of a policy folder, and checking them against its hashes. Needs no torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policies.base import BadCard, HashMismatch, MissingFile, PolicyCard

CARD = "policy.json"
WEIGHTS = "model.safetensors"
STATISTICS = "dataset_statistics.json"
TOKENIZER = "tokenizer.json"
CONFIG = "config.json"  # of a published checkpoint
PREPROCESSOR = "preprocessor_config.json"  # of a published OpenVLA
SUMS = "SHA256SUMS"
REFERENCE = "reference.json"  # what torch answers, for those that compute the network in another way
LOG = "training_log.csv"
MOST_BYTES = 64 << 20  # of a file that is read whole; published ones take at most a tenth of it
LONGEST_NAME = 255
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The object in `folder`/`name`. Raises MissingFile, and BadCard when it is not a JSON object."""
    path = folder / name
    try:
        data = json.loads(read_text(folder, name))
    except ValueError as error:
        raise BadCard(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise BadCard(f"{path}: not JSON as expected: nested too deeply") from None
    if not isinstance(data, dict):
        raise BadCard(f"{path}: expected a JSON object, got {type(data).__name__}")
    return data


def read_text(folder: Path, name: str) -> str:
    """A whole text file. Raises MissingFile, and BadCard when it is not UTF-8 or too large."""
    try:
        return read_bytes(folder, name).decode()
    except UnicodeDecodeError as error:
        raise BadCard(f"{folder / name}: byte {error.start} is not UTF-8") from None


def read_bytes(folder: Path, name: str) -> bytes:
    """A whole file. Raises MissingFile, and BadCard when it is too large."""
    path = folder / name
    if not path.is_file():
        raise MissingFile(f"{folder}: {name} is missing")
    with path.open("rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    refuse_pointer(path, content)
    if len(content) > MOST_BYTES:
        raise BadCard(f"{path}: larger than {MOST_BYTES >> 20} MiB")
    return content


def refuse_pointer(path: Path, content: bytes | None = None) -> None:
    """Raise MissingFile for a file that only says where Git LFS keeps the real one. `content`: its first bytes."""
    if content is None:
        with path.open("rb") as stream:
            content = stream.read(len(LFS_POINTER))
    if content.startswith(LFS_POINTER):
        raise MissingFile(f"{path}: a Git LFS pointer instead of the file; get it with `git lfs pull`")


def is_file_name(name: object) -> bool:
    """Whether this is the name of a file in the folder itself."""
    named = isinstance(name, str) and len(name) > 0 and len(name.encode(errors="replace")) <= LONGEST_NAME
    return named and name not in (".", "..") and not {"/", "\0"} & set(str(name))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_card(folder: Path) -> PolicyCard:
    return PolicyCard.from_json(read_json(folder, CARD))


def file_hash(path: Path) -> str:
    """sha256 hex of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_sums(folder: Path) -> None:
    """Write SHA256SUMS over every other file, in the format of the `sha256sum` command."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    (folder / SUMS).write_text("".join(f"{file_hash(folder / name)}  {name}\n" for name in names), "utf-8")


def check_listed(folder: Path, required: tuple[str, ...]) -> dict[str, str]:
    """File name -> hash as listed. Raises HashMismatch unless every required one is. Reads SHA256SUMS alone."""
    lines = read_text(folder, SUMS).splitlines()
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}
    for name in listed:
        if not is_file_name(name):
            raise HashMismatch(f"{folder}: {SUMS} lists {name!r}, which is not the name of a file in the same folder")
    for name in required:
        if name not in listed:
            raise HashMismatch(f"{folder}: {name} is not listed in {SUMS}")
    return listed


def check_sums(folder: Path, required: tuple[str, ...]) -> None:
    """Raise MissingFile or HashMismatch unless every listed file has its hash and every required one is listed."""
    for name, digest in check_listed(folder, required).items():
        if not (folder / name).is_file():
            raise MissingFile(f"{folder}: {name} is missing")
        refuse_pointer(folder / name)
        if file_hash(folder / name) != digest:
            raise HashMismatch(f"{folder}: {name} is not the file that {SUMS} lists")
