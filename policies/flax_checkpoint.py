"""Reading the one msgpack file that flax and orbax write for a tree of arrays.

It holds nested maps. An array is an extension of type 1 around (shape, dtype name, bytes), or above 1 GiB a map of
chunks. The name of a tensor is its path, joined with dots.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgpack
import torch

from policies.base import BadTensors, MissingFile
from policies.checkpoints import WEIGHTS_INDEX, StoredTensor, find_safetensors, whole
from policies.folder import refuse_pointer

CHECKPOINT = "checkpoint"

_TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
_CHUNKED = "__msgpack_chunked_array__"
_ARRAY, _SCALAR = 1, 3  # extension types
_WINDOW = 8192  # bytes; more than any key or array header of a checkpoint takes
_FIXED_EXTENSIONS = {0xD4, 0xD5, 0xD6, 0xD7, 0xD8}
_SIZED_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}  # code -> bytes of the length
_BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}  # code -> format of the length


def find_tensors(folder: Path) -> dict[str, StoredTensor]:
    """All tensors of a folder: those of its safetensors, or where there are none, of its flax checkpoint."""
    if (folder / WEIGHTS_INDEX).is_file() or any(folder.glob("*.safetensors")):
        return find_safetensors(folder)
    return read_header(find_checkpoint(folder))


def find_checkpoint(folder: Path) -> Path:
    """The checkpoint file: the highest `<step>/default/checkpoint`, or `checkpoint` beside config.json."""
    steps = [path for path in folder.iterdir() if re.fullmatch(r"\d+", path.name)] if folder.is_dir() else []
    nested = [step / "default" / CHECKPOINT for step in sorted(steps, key=lambda path: int(path.name), reverse=True)]
    for path in [*nested, folder / "default" / CHECKPOINT, folder / CHECKPOINT]:
        if path.is_file():
            return path
    raise MissingFile(f"{folder}: no <step>/default/{CHECKPOINT} and no {CHECKPOINT}")


def read_header(path: Path) -> dict[str, StoredTensor]:
    """Places of all arrays of the file, from their headers. Raises BadTensors naming the first bad array."""
    refuse_pointer(path)
    with path.open("rb") as stream:
        if not path.stat().st_size:
            raise BadTensors(f"{path}: empty")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            cursor = _Cursor(path, content)
            try:
                found = dict(_walk(cursor, ""))
            except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                cursor.fail(error)
            if cursor.at != len(content):
                raise BadTensors(f"{path}: {len(content) - cursor.at} bytes too many after the last tensor")
    return found


class _Cursor:
    """A position in a msgpack file. Unpacks small values, and takes only the place of an array's bytes."""

    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self.path, self.content, self.at, self.name = path, content, 0, "(the first)"

    def unpack(self, method: str = "unpack") -> Any:
        """One value, or with `read_map_header` or `read_array_header` a length."""
        # A header may claim any length, so the buffer bounds the length of a list.
        unpacker = msgpack.Unpacker(strict_map_key=False, max_buffer_size=_WINDOW)
        unpacker.feed(self.content[self.at : self.at + _WINDOW])
        try:
            value = getattr(unpacker, method)()
        except (msgpack.OutOfData, msgpack.UnpackException) as error:
            self.fail(error)
        self.at += unpacker.tell()
        return value

    def holds_map(self) -> bool:
        code = self._code()
        return code >> 4 == 0x8 or code in (0xDE, 0xDF)

    def extension(self) -> int | None:
        """Skip the header of an extension and return its type; None for any other value, which stays unread."""
        code = self._code()
        if code not in _FIXED_EXTENSIONS and code not in _SIZED_EXTENSIONS:
            return None
        self.at += 2 + _SIZED_EXTENSIONS.get(code, 0)
        return self._number(self.at - 1, ">b")

    def skip_bytes(self) -> tuple[int, int]:
        """Skip a byte string and return (offset, bytes) of its content."""
        form = _BYTES.get(self._code()) or self.fail("expected bytes")
        size = self._number(self.at + 1, form)
        begin = self.at + 1 + struct.calcsize(form)
        if begin + size > len(self.content):
            raise BadTensors(f"{self.path}: tensor {self.name} is cut short")
        self.at = begin + size
        return begin, size

    def fail(self, why: object) -> NoReturn:
        reason = str(why) or "the file ends"
        raise BadTensors(f"{self.path}: cut short or not msgpack at tensor {self.name} ({reason})") from None

    def _code(self) -> int:
        return self._number(self.at, ">B")

    def _number(self, at: int, form: str) -> int:
        try:
            return int(struct.unpack_from(form, self.content, at)[0])
        except struct.error:
            self.fail("")


def _walk(cursor: _Cursor, prefix: str) -> Iterator[tuple[str, StoredTensor]]:
    """Arrays below the map at the cursor, by their path."""
    for number in range(cursor.unpack("read_map_header")):
        key = cursor.unpack()
        if key == _CHUNKED and number == 0:
            cursor.unpack()
            yield prefix, _chunked(cursor, prefix)
            return
        cursor.name = f"{prefix}.{key}" if prefix else str(key)
        if cursor.holds_map():
            yield from _walk(cursor, cursor.name)
        else:
            yield cursor.name, _array(cursor, cursor.name)


def _array(cursor: _Cursor, name: str) -> StoredTensor:
    if cursor.extension() not in (_ARRAY, _SCALAR) or cursor.unpack("read_array_header") != 3:
        raise BadTensors(f"{cursor.path}: {name} is not an array; weights stored outside this file cannot be read")
    shape, dtype = tuple(cursor.unpack()), cursor.unpack()
    dtype = dtype.decode() if isinstance(dtype, bytes) else dtype
    if dtype not in _TYPES:
        raise BadTensors(f"{cursor.path}: tensor {name} is {dtype}, expected one of {', '.join(_TYPES)}")
    return whole(cursor.path, name, shape, _TYPES[dtype], (cursor.skip_bytes(),))


def _chunked(cursor: _Cursor, name: str) -> StoredTensor:
    """An array past 1 GiB: {"shape": {"0": ...}, "chunks": {"0": array, ...}}."""
    if cursor.unpack() != "shape":
        cursor.fail("expected shape")
    lengths = cursor.unpack()
    if cursor.unpack() != "chunks":
        cursor.fail("expected chunks")
    parts = {}
    for _ in range(cursor.unpack("read_map_header")):
        key = cursor.unpack()
        parts[int(key)] = _array(cursor, f"{name} chunk {key}")
    if not parts:
        cursor.fail("no chunks")
    shape = tuple(lengths[key] for key in sorted(lengths, key=int))
    pieces = tuple(piece for number in sorted(parts) for piece in parts[number].pieces)
    return whole(cursor.path, name, shape, parts[min(parts)].dtype, pieces)
