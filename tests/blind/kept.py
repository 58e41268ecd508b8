"""What an outsider saw, in a file: one line of JSON for the scene, then one for each battle."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.blind.peek import Peeked, Reply


def begin(path: Path, manifest: Mapping[str, Any]) -> None:
    """A file without battles, unless it is there."""
    if not path.exists():
        path.write_text(json.dumps(manifest) + "\n")


def add(path: Path, peeked: Peeked) -> None:
    with path.open("a") as file:
        file.write(json.dumps(asdict(peeked), default=_text) + "\n")


def read(path: Path) -> tuple[list[Peeked], dict[str, Any]]:
    """The battles, and the manifest of their scene."""
    manifest, *battles = (json.loads(line) for line in path.read_text().splitlines())
    return [_peeked(battle) for battle in battles], manifest


def _text(body: bytes) -> str:
    return base64.b64encode(body).decode()


def _peeked(battle: dict[str, Any]) -> Peeked:
    replies = [Reply(**(reply | {"body": base64.b64decode(reply["body"])})) for reply in battle["replies"]]
    return Peeked(**(battle | {"replies": replies, "heard": [(at, text) for at, text in battle["heard"]]}))
