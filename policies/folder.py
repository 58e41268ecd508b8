"""The files of a policy folder, and proof that they are the ones that were shipped. Needs no torch."""

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
SUMS = "SHA256SUMS"
LOG = "training_log.csv"


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """The object in `folder`/`name`; raises MissingFile, or BadCard when it is not a JSON object."""
    path = folder / name
    try:
        data = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile(f"{folder}: {name} is missing") from None
    except ValueError as error:
        raise BadCard(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadCard(f"{path}: expected a JSON object, got {type(data).__name__}")
    return data


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
    """File name -> hash as listed; every required one is. No file is read but SHA256SUMS."""
    try:
        lines = (folder / SUMS).read_text("utf-8").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile(f"{folder}: {SUMS} is missing") from None
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines if line)}
    for name in required:
        if name not in listed:
            raise HashMismatch(f"{folder}: {name} is not listed in {SUMS}")
    return listed


def check_sums(folder: Path, required: tuple[str, ...]) -> None:
    """Every listed file is there with its hash, and every required one is listed; the error names the file."""
    for name, digest in check_listed(folder, required).items():
        if not (folder / name).is_file():
            raise MissingFile(f"{folder}: {name} is missing")
        if file_hash(folder / name) != digest:
            raise HashMismatch(f"{folder}: {name} is not the file that {SUMS} lists")
