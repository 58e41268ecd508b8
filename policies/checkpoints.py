"""Loading weights into a network built on the meta device, tensor by tensor, each checked and copied once.

Headers alone give the place of every tensor in its file: here for safetensors, whole or in shards, and in
`policies.flax_checkpoint` for flax. Then the bytes of each tensor are read straight into it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from policies import devices
from policies.base import BadTensors, MissingFile
from policies.folder import WEIGHTS, is_file_name, read_json, refuse_pointer

WEIGHTS_INDEX = "model.safetensors.index.json"
MOST_HEADER = 16 << 20  # bytes; those of published checkpoints take a hundredth of it
MOST_DIMENSIONS, LONGEST_DIMENSION = 16, 1 << 40

_SAFETENSORS_TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_FINITE_PIECE = 1 << 18  # elements checked together: for a whole embedding the check would take its memory again
T = TypeVar("T")


@dataclass(frozen=True)
class StoredTensor:
    """The place of a tensor. `pieces`: (offset, bytes) in `path`, in order."""

    path: Path
    shape: tuple[int, ...]
    dtype: torch.dtype
    pieces: tuple[tuple[int, int], ...]


def default_device(device: str | None = None, family: str = "") -> tuple[torch.device, torch.dtype]:
    """The device, the CPU unless another is named, and the family's number type on it (policies.devices).

    Raises UnknownDevice, which lists the devices of this machine.
    """
    chosen = devices.find(device)
    return chosen, devices.number_type(family, chosen)


class _NoInitialWeights(TorchFunctionMode):
    """Leaves out torch.nn.init: on the meta device, where there is nothing to initialise, its random numbers import
    torch's compiler (1 to 2 s and 76 MB).
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if getattr(func, "__module__", None) == nn.init.__name__:
            return named["tensor"] if "tensor" in named else args[0]
        return func(*args, **named)


def build(make: Callable[[], T]) -> T:
    """Build a network without memory for its weights, which `load` brings."""
    with torch.device("meta"), _NoInitialWeights():
        return make()


def load(network: nn.Module, stored: Mapping[str, StoredTensor], device: torch.device, dtype: torch.dtype) -> None:
    """Fill a network with exactly its tensors, in their shapes, all finite; freeze it, in eval mode.

    Raises BadTensors naming the first tensor that is missing, misshapen, unknown, cut short or not finite.
    """
    compare(network, stored)
    loaded = {name: read(name, stored[name]).to(dtype).to(device) for name in network.state_dict()}
    network.load_state_dict(loaded, assign=True)
    network.requires_grad_(False).eval()


def compare(network: nn.Module, stored: Mapping[str, StoredTensor]) -> None:
    """Raise BadTensors unless names and shapes are the network's. Reads no weight."""
    compare_shapes({name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}, stored)


def compare_shapes(wanted: Mapping[str, tuple[int, ...]], stored: Mapping[str, StoredTensor]) -> None:
    """Raise BadTensors unless names and shapes are these. Reads no weight."""
    for name, shape in wanted.items():
        if name not in stored:
            raise BadTensors(f"{_place(stored)}: tensor {name} {list(shape)} is missing")
        found = stored[name]
        if found.shape != shape:
            raise BadTensors(f"{found.path}: tensor {name} is {list(found.shape)}, expected {list(shape)}")
    for name, tensor in stored.items():
        if name not in wanted:
            raise BadTensors(f"{tensor.path}: tensor {name} {list(tensor.shape)} is not part of the network")


def read(name: str, stored: StoredTensor) -> Tensor:
    """One tensor in its stored number type. Raises BadTensors unless it is whole and every number is finite."""
    flat = torch.empty(math.prod(stored.shape), dtype=stored.dtype)
    room = memoryview(flat.view(torch.uint8).numpy())  # type: ignore[arg-type]  # numpy arrays are buffers
    with stored.path.open("rb", buffering=0) as stream:
        for offset, size in stored.pieces:
            stream.seek(offset)
            piece, room = room[:size], room[size:]
            while piece:
                count = stream.readinto(piece)
                if not count:
                    raise BadTensors(f"{stored.path}: tensor {name} is cut short")
                piece = piece[count:]
    if not all(bool(part.isfinite().all()) for part in torch.split(flat, _FINITE_PIECE)):
        raise BadTensors(f"{stored.path}: tensor {name} holds a number that is not finite")
    return flat.view(stored.shape)


def _place(stored: Mapping[str, StoredTensor]) -> str:
    """The file, or the folder when the tensors lie in several, for messages."""
    if not stored:
        return "no file"
    path, *others = {tensor.path for tensor in stored.values()}
    return str(path.parent if others else path)


def find_safetensors(folder: Path) -> dict[str, StoredTensor]:
    """All tensors of a folder: those of the shards that the index names, or of the one file."""
    if not (folder / WEIGHTS_INDEX).is_file():
        _refuse_shards(folder)
        return read_safetensors_header(folder / WEIGHTS)
    places = read_json(folder, WEIGHTS_INDEX).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise BadTensors(f"{folder / WEIGHTS_INDEX}: weight_map is missing")
    found: dict[str, StoredTensor] = {}
    for shard in places.values():
        if not is_file_name(shard):
            raise BadTensors(f"{folder / WEIGHTS_INDEX}: {shard!r} is not the name of a file in the same folder")
    for shard in sorted(set(places.values())):
        found |= read_safetensors_header(folder / shard)
    for name, shard in places.items():
        if name not in found or found[name].path.name != shard:
            raise BadTensors(f"{folder / shard}: tensor {name} is missing, though {WEIGHTS_INDEX} says it is here")
    return found


def _refuse_shards(folder: Path) -> None:
    """Raise MissingFile where there is no whole file but shards, whose index is missing."""
    shards = sorted(path.name for path in folder.glob("*-of-*.safetensors"))
    if shards and not (folder / WEIGHTS).is_file():
        more = f" and {len(shards) - 1} more" if len(shards) > 1 else ""
        raise MissingFile(f"{folder}: {WEIGHTS_INDEX} is missing, which tells what lies in {shards[0]}{more}")


def read_safetensors_header(path: Path) -> dict[str, StoredTensor]:
    """Places of all tensors of one file, in its order. Each lies within the file and has the bytes of its shape."""
    if not path.is_file():
        raise MissingFile(f"{path.parent}: {path.name} is missing")
    refuse_pointer(path)
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        raw = stream.read(length) if length <= min(size - 8, MOST_HEADER) else b""
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise BadTensors(f"{path}: not a safetensors file, or cut short within its header")
    header.pop("__metadata__", None)
    found = {name: _safetensor(path, name, entry, 8 + length) for name, entry in header.items()}
    ordered = sorted(found.items(), key=lambda item: item[1].pieces[0])
    for name, tensor in ordered:
        if sum(tensor.pieces[0]) > size:
            raise BadTensors(f"{path}: tensor {name} is cut short")
    return dict(ordered)


def _safetensor(path: Path, name: str, entry: Any, base: int) -> StoredTensor:
    try:
        dtype, shape = entry["dtype"], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise BadTensors(f"{path}: tensor {name} has no proper header") from None
    if not _are_counts((begin, end)) or begin > end:
        raise BadTensors(f"{path}: tensor {name} lies nowhere: data_offsets {begin!r}, {end!r}")
    if not isinstance(dtype, str) or dtype not in _SAFETENSORS_TYPES:
        raise BadTensors(f"{path}: tensor {name} is {dtype}, expected one of {', '.join(_SAFETENSORS_TYPES)}")
    return whole(path, name, shape, _SAFETENSORS_TYPES[dtype], ((base + begin, end - begin),))


def whole(
    path: Path, name: str, shape: tuple[int, ...], dtype: torch.dtype, pieces: tuple[tuple[int, int], ...]
) -> StoredTensor:
    """A stored tensor whose pieces add up to the bytes of its shape. Raises BadTensors for any other."""
    if len(shape) > MOST_DIMENSIONS or not _are_counts(shape):
        raise BadTensors(f"{path}: tensor {name} has no proper shape")
    needed, there = math.prod(shape) * dtype.itemsize, sum(size for _, size in pieces)
    if needed != there:
        raise BadTensors(f"{path}: tensor {name} {list(shape)} needs {needed} bytes, the file gives it {there}")
    return StoredTensor(path, shape, dtype, pieces)


def _are_counts(numbers: tuple[Any, ...]) -> bool:
    return all(type(number) is int and 0 <= number <= LONGEST_DIMENSION for number in numbers)
