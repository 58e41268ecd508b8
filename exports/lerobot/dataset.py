"""Writing a dataset: episode by episode, into a folder that appears whole."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from exports.lerobot import files, statistics
from exports.lerobot.features import VIDEO, Column, Layout, schema_of, table_of
from exports.lerobot.files import Film, Tables
from exports.lerobot.statistics import Statistics, as_lists

VERSION = "v3.0"
ABOUT = {
    **dict.fromkeys(("episode_id", "battle_id", "turn_id", "side", "model_id", "policy_revision"), pa.string()),
    **dict.fromkeys(("start_hash", "vote"), pa.string()),
    "success": pa.bool_(),
    "progress": pa.float64(),
    "seed": pa.int64(),
}
"""Columns of ours in the rows of `meta/episodes/`. `vote`: chosen, rejected, tie or both_bad. `success` and `progress`
are null where the instruction has no goal that physics judges."""
SIZE = (480, 360)


class SeveralWorlds(ValueError):
    """Episodes of several worlds, whose numbers differ, cannot be in one dataset."""


class FolderTaken(ValueError):
    """The folder exists and is not empty."""


@dataclass(frozen=True)
class Episode:
    """A recording, and the columns of ABOUT."""

    document: Mapping[str, Any]
    about: Mapping[str, Any]


@dataclass
class Totals:
    episodes: int = 0
    frames: int = 0
    tasks: dict[str, int] = field(default_factory=dict)


def write_dataset(
    folder: Path,
    episodes: Iterable[Episode],
    *,
    video: bool = False,
    about: Mapping[str, Any],
    told: Callable[[int], None] = lambda done: None,
) -> Totals:
    """Write all episodes, which must be of one world. `about`: further keys of `meta/info.json`.

    Episodes without an action are left out. `told`: called with the number of episodes so far. Raises FolderTaken,
    SeveralWorlds, ValueError where there is no episode, and OSError; then there is no folder.
    """
    with _appearing(folder) as root:
        writer: _Writer | None = None
        for episode in episodes:
            if not episode.document["actions"]:
                continue
            if writer is None:
                writer = _Writer(root, Layout.of(episode.document), SIZE if video else None)
            writer.add(episode)
            told(writer.totals.episodes)
        if writer is None:
            raise ValueError("there is no episode to write")
        writer.close(about)
    return writer.totals


class _Writer:
    def __init__(self, root: Path, layout: Layout, size: tuple[int, int] | None) -> None:
        self._root, self._layout, self._size = root, layout, size
        self._features = layout.features(size)
        self._schema = schema_of(self._features)
        self._data = Tables(root, files.DATA_PATH, self._schema)
        self._film = Film(root, VIDEO, size, layout.world.control_hz) if size else None
        self._rows: Tables | None = None
        self._together = statistics.Together()
        self.totals = Totals()

    def add(self, episode: Episode) -> None:
        if (mine := self._layout.world.scene_hash) != (theirs := episode.document["scene_hash"]):
            raise SeveralWorlds(
                f"{episode.document['_id']} was recorded in the scene {theirs[:12]}, the dataset is of {mine[:12]}; "
                "export each robot and scene to a folder of its own"
            )
        totals, columns = self.totals, self._layout.frames(episode.document)
        length = len(columns["frame_index"])
        task = totals.tasks.setdefault(episode.document["instruction"], len(totals.tasks))
        columns |= {
            "episode_index": np.full(length, totals.episodes),
            "index": np.arange(totals.frames, totals.frames + length),
            "task_index": np.full(length, task),
        }
        place = self._data.add(table_of(columns, self._schema))
        found = {name: statistics.of_vector(column) for name, column in columns.items()}
        row = {
            "episode_index": totals.episodes,
            "tasks": [episode.document["instruction"]],
            "length": length,
            "data/chunk_index": place.chunk_index,
            "data/file_index": place.file_index,
            "dataset_from_index": totals.frames,
            "dataset_to_index": totals.frames + length,
        }
        if self._film:
            pictures = self._drawn(episode.document)
            row |= self._film.add(pictures)
            found[VIDEO] = statistics.of_pictures(np.stack(pictures[:: max(1, length // 8)])[:, ::4, ::4])
        self._note(row | {name: episode.about.get(name) for name in ABOUT}, found)
        totals.episodes, totals.frames = totals.episodes + 1, totals.frames + length

    def close(self, about: Mapping[str, Any]) -> None:
        for part in (self._data, self._film, self._rows):
            if part:
                part.close()
        files.write_tasks(self._root / "meta" / "tasks.parquet", self.totals.tasks)
        _write_json(self._root / "meta" / "stats.json", self._together.as_json())
        _write_json(self._root / "meta" / "info.json", self._info(about))

    def _drawn(self, document: Mapping[str, Any]) -> list[Column]:
        from simulation.pictures import artist_of

        artist, size = artist_of(document), self._size or SIZE
        return [artist.draw(positions, size) for positions in self._layout.positions(document)]

    def _note(self, row: dict[str, Any], found: Mapping[str, Statistics]) -> None:
        self._together.add(found)
        row |= {f"stats/{name}/{what}": value for name, one in found.items() for what, value in as_lists(one).items()}
        place = self._rows.room() if self._rows else files.Place()
        row |= {"meta/episodes/chunk_index": place.chunk_index, "meta/episodes/file_index": place.file_index}
        schema = _schema_of_row(row)
        self._rows = self._rows or Tables(self._root, files.EPISODES_PATH, schema)
        self._rows.add(pa.Table.from_pylist([row], schema=schema))

    def _info(self, about: Mapping[str, Any]) -> dict[str, Any]:
        world = self._layout.world
        return {
            "codebase_version": VERSION,
            "robot_type": world.robot_id,
            "total_episodes": self.totals.episodes,
            "total_frames": self.totals.frames,
            "total_tasks": len(self.totals.tasks),
            "chunks_size": files.CHUNKS_SIZE,
            "data_files_size_in_mb": files.DATA_MB,
            "video_files_size_in_mb": files.VIDEO_MB,
            "fps": world.control_hz,
            "splits": {"train": f"0:{self.totals.episodes}"},
            "data_path": files.DATA_PATH,
            "video_path": files.VIDEO_PATH if self._film else None,
            "features": self._features,
            "vla_arena": {
                "robot_id": world.robot_id,
                "scene_id": world.scene_id,
                "scene_hash": world.scene_hash,
                "action_space": world.robot.ACTION.id,
                **about,
            },
        }


def _schema_of_row(row: Mapping[str, Any]) -> pa.Schema:
    known = {**ABOUT, "tasks": pa.list_(pa.string())}
    return pa.schema([(name, known.get(name) or _type_of(name, value)) for name, value in sorted(row.items())])


def _type_of(name: str, value: Any) -> pa.DataType:
    if name.startswith("stats/"):
        one = pa.int64() if name.endswith("/count") else pa.float64()
        deep: pa.DataType = one
        while isinstance(value, list):
            deep, value = pa.list_(deep), value[0]
        return deep
    return pa.float64() if name.endswith("_timestamp") else pa.int64()


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=4, ensure_ascii=False), encoding="utf-8")


@contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder beside it, which takes its place once the block has ended without an error."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderTaken(f"{folder} exists and is not empty")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        (temporary / "meta").mkdir()
        yield temporary
        temporary.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        temporary.rename(folder)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
