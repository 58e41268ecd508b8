"""Demonstrations as `manage.py demos` writes them: shards read through memory maps, so that two runs share one copy."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from policies.base import DatasetError
from policies.transforms import measure

Array = NDArray[Any]
INDEX = "dataset.json"
SMALL = ("proprioception", "actions", "mask", "text", "pixels", "places", "held", "turn", "episode", "task")


@dataclass(frozen=True)
class Frames:
    """Some frames. images uint8 (B, H, W, 3); actions (B, chunk, 7) clean labels; mask (B, chunk); text (B,) index.

    pixels (B, 3, 2) x, y in 0..1 of named object, target, tool; places (B, 2, 3) xyz [m] of object and target;
    held (B,); turn (B, 2) sin 4a, cos 4a of the named object's yaw against the gripper.
    """

    images: Array
    proprioception: Array
    actions: Array
    mask: Array
    text: Array
    pixels: Array
    places: Array
    held: Array
    turn: Array


class Demonstrations:
    """All frames of a folder, or of a random share of its episodes. Small arrays lie in memory, pictures on disk."""

    def __init__(self, folder: Path, fraction: float = 1.0, seed: int = 0) -> None:
        index = _read_index(folder)
        self.texts: list[str] = [str(row["text"]) for row in index["instructions"]]
        self.goals: list[tuple[Any, ...]] = [
            (row["task_id"], *sorted(row["slots"].items())) for row in index["instructions"]
        ]
        shards = [folder / row["file"] for row in index["shards"]]
        self._images = [map_member(path, "images") for path in shards]
        arrays: Mapping[str, Array] = _read_small(shards)
        starts = np.cumsum([0, *map(len, self._images)])
        if starts[-1] != len(arrays["text"]) or not starts[-1]:
            raise DatasetError(f"{folder}: {starts[-1]} pictures but {len(arrays['text'])} rows of labels")
        keep = _share(arrays["episode"], fraction, seed)
        self._shard = (np.searchsorted(starts, keep, side="right") - 1).astype(np.int64)
        self._row = keep - starts[self._shard]
        self._small = {name: array[keep] for name, array in arrays.items()}
        self.fingerprint = _fingerprint(index, self._small)

    def __len__(self) -> int:
        return len(self._row)

    @property
    def episodes(self) -> int:
        return len(np.unique(self._small["episode"]))

    @property
    def chunk(self) -> int:
        return int(self._small["actions"].shape[1])

    @property
    def image_size(self) -> int:
        return int(self._images[0].shape[1])

    def read(self, rows: Array) -> Frames:
        images = np.stack([self._images[self._shard[row]][self._row[row]] for row in rows])
        small = {name: self._small[name][rows] for name in SMALL if name not in ("episode", "task")}
        return Frames(images, **small)

    def statistics(self) -> dict[str, Any]:
        """The content of dataset_statistics.json, over the first action of every chunk."""
        places = self._small["places"].reshape(-1, 3)
        places = places[np.isfinite(places).all(1)]
        actions = self._small["actions"][:, 0].astype(np.float64)
        return measure(actions, self._small["proprioception"].astype(np.float64), places.astype(np.float64))


def map_member(path: Path, name: str) -> Array:
    """A read-only memory map of one array inside an uncompressed .npz; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            info = archive.getinfo(f"{name}.npy")
        if info.compress_type != zipfile.ZIP_STORED:
            raise DatasetError(f"{path}: {name} is compressed; write it with numpy.savez")
        with path.open("rb") as stream:
            stream.seek(info.header_offset)
            header = stream.read(30)  # a local file header: name and extra lengths are its last two words
            stream.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            version = npy_format.read_magic(stream)
            read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
            shape, fortran, dtype = read(stream)
            return np.memmap(path, dtype, "r", stream.tell(), shape, "F" if fortran else "C")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DatasetError(f"{path}: cannot read {name}: {error}") from None


def _read_index(folder: Path) -> dict[str, Any]:
    try:
        index = json.loads((folder / INDEX).read_text("utf-8"))
    except FileNotFoundError:
        raise DatasetError(f"{folder}: no {INDEX}; make demonstrations with `manage.py demos`") from None
    except ValueError as error:
        raise DatasetError(f"{folder / INDEX}: not JSON: {error}") from None
    return dict(index)


def _read_small(shards: Sequence[Path]) -> dict[str, Array]:
    parts: dict[str, list[Array]] = {name: [] for name in SMALL}
    for path in shards:
        with np.load(path, allow_pickle=False) as data:
            for name in SMALL:
                if name not in data:
                    raise DatasetError(f"{path}: array {name!r} is missing; there are {', '.join(sorted(data))}")
                parts[name].append(data[name])
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _share(episode: Array, fraction: float, seed: int) -> Array:
    """Row numbers of a random share of the episodes, whole episodes only."""
    if not 0 < fraction <= 1:
        raise DatasetError(f"fraction: expected more than 0 and at most 1, got {fraction}")
    known = np.unique(episode)
    count = max(1, round(fraction * len(known)))
    chosen = np.sort(np.random.default_rng([seed, 2]).permutation(known)[:count])
    return np.flatnonzero(np.isin(episode, chosen))


def _fingerprint(index: Mapping[str, Any], small: Mapping[str, Array]) -> str:
    """sha256 hex over texts and labels: a run resumes only on the demonstrations it began with."""
    digest = hashlib.sha256(json.dumps(index["instructions"], sort_keys=True).encode())
    for name in sorted(small):
        digest.update(np.ascontiguousarray(small[name]).tobytes())
    return digest.hexdigest()
