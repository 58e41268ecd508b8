"""What is large is compressed once, whatever is installed how often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brotli
import pytest

from vlaarena import static_storage
from vlaarena.static_storage import LARGE, KeepingCompressor


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any) -> list[int]:
    """Sizes of what was compressed, as it happens, with a folder of its own for what is kept."""
    settings.BASE_DIR = tmp_path
    sizes: list[int] = []

    def compressed(data: bytes) -> bytes:
        sizes.append(len(data))
        small: bytes = brotli.compress(data, quality=1)
        return small

    monkeypatch.setattr(static_storage, "compressed", compressed)
    return sizes


def test_a_large_file_is_compressed_once_and_kept(work: list[int], tmp_path: Path) -> None:
    data = b"engine " * (LARGE // 7 + 1)
    first, second = (KeepingCompressor.compress_brotli(data) for _ in range(2))
    assert work == [len(data)]
    assert brotli.decompress(first) == brotli.decompress(second) == data
    assert len(list((tmp_path / "build" / "brotli").iterdir())) == 1
    KeepingCompressor.compress_brotli(data + b"another")
    assert len(work) == 2, "other content is another file"


def test_a_small_file_is_compressed_each_time_and_not_kept(work: list[int], tmp_path: Path) -> None:
    for _ in range(2):
        KeepingCompressor.compress_brotli(b"body { margin: 0 }")
    assert len(work) == 2
    assert not (tmp_path / "build").exists()
