"""The numbered files of a dataset: `chunk-000/file-000`, a new one when the present one is full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import av
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

CHUNKS_SIZE, DATA_MB, VIDEO_MB = 1000, 100, 200
"""Files in a chunk, and megabytes in a file, as `meta/info.json` states them."""
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
KEY_FRAMES = 2
"""Every second frame of a video stands alone, so that any frame is found quickly."""


class Place(NamedTuple):
    chunk_index: int = 0
    file_index: int = 0

    def next(self) -> Place:
        if self.file_index + 1 < CHUNKS_SIZE:
            return Place(self.chunk_index, self.file_index + 1)
        return Place(self.chunk_index + 1, 0)


class Tables:
    """Parquet files in which rows follow each other."""

    def __init__(self, root: Path, pattern: str, schema: pa.Schema) -> None:
        self._root, self._pattern, self._schema = root, pattern, schema
        self._waiting: list[pa.Table] = []
        self._writer: parquet.ParquetWriter | None = None
        self.place = Place()

    def room(self) -> Place:
        """The file into which the next rows go."""
        if self._writer is not None and self._path.stat().st_size > DATA_MB << 20:
            self.close()
            self.place = self.place.next()
        return self.place

    def add(self, table: pa.Table) -> Place:
        """Write rows; answers in which file they are."""
        place = self.room()
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet.ParquetWriter(self._path, self._schema, compression="snappy")
        self._waiting.append(table)
        if len(self._waiting) >= 100:
            self._flush()
        return place

    def close(self) -> None:
        if self._writer is not None:
            self._flush()
            self._writer.close()
            self._writer = None

    def _flush(self) -> None:
        if self._writer is not None and self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting.clear()

    @property
    def _path(self) -> Path:
        return self._root / self._pattern.format(**self.place._asdict())


class Film:
    """MP4 files (H.264) in which the frames of episodes follow each other. `size`: width and height, both even."""

    def __init__(self, root: Path, key: str, size: tuple[int, int], fps: int) -> None:
        self._root, self._key, self._size, self._fps = root, key, size, fps
        self._film: Any = None
        self._stream: Any = None
        self._frames = 0
        self.place = Place()

    def add(self, frames: Sequence[NDArray[Any]]) -> dict[str, Any]:
        """Write an episode's frames, uint8 (height, width, 3); answers its row's columns about the video."""
        if self._film is not None and self._path.stat().st_size > VIDEO_MB << 20:
            self.close()
            self.place = self.place.next()
        if self._film is None:
            self._open()
        first = self._frames
        for frame in frames:
            self._film.mux(self._stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        self._frames += len(frames)
        about = {
            **self.place._asdict(),
            "from_timestamp": first / self._fps,
            "to_timestamp": self._frames / self._fps,
        }
        return {f"videos/{self._key}/{name}": value for name, value in about.items()}

    def close(self) -> None:
        if self._film is not None:
            self._film.mux(self._stream.encode())
            self._film.close()
            self._film, self._frames = None, 0

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._film = av.open(str(self._path), "w", format="mp4")
        options = {"crf": "23", "preset": "veryfast", "bf": "0"}
        self._stream = self._film.add_stream("libx264", rate=Fraction(self._fps), options=options)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.gop_size = KEY_FRAMES
        self._stream.codec_context.thread_count = 1  # the machine's other work comes first

    @property
    def _path(self) -> Path:
        return self._root / VIDEO_PATH.format(video_key=self._key, **self.place._asdict())


def write_tasks(path: Path, tasks: Iterable[str]) -> None:
    """`meta/tasks.parquet`: the number of each instruction, by the instruction, which pandas reads as the index."""
    names = list(tasks)
    index = {"name": None, "field_name": "__index_level_0__", "pandas_type": "unicode", "numpy_type": "object"}
    number = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    about = {
        "index_columns": ["__index_level_0__"],
        "column_indexes": [],
        "columns": [{**number, "metadata": None}, {**index, "metadata": None}],
    }
    schema = pa.schema([("task_index", pa.int64()), ("__index_level_0__", pa.string())], {"pandas": json.dumps(about)})
    parquet.write_table(pa.table([list(range(len(names))), names], schema=schema), path)
