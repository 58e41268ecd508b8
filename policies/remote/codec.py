"""Messages with arrays in msgpack, as openpi codes them. Nothing that is read can be code.

Two codings of arrays are in use. openpi's has bytes as keys and numpy's short names of types ("<f4"); that of
vla-evaluation-harness has text as keys and the long names ("float32"). Both are read.
"""

from __future__ import annotations

import math
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from policies.remote.errors import BadFrame

ARRAY, SCALAR = "__ndarray__", "__npgeneric__"
KINDS = "fiub"  # floats, integers, unsigned, booleans
MOST_AXES = 8
SHORT_NAMES = {f"{order}{kind}{size}" for order in "<>|=" for kind in KINDS for size in (1, 2, 4, 8)}
NAMES = (
    SHORT_NAMES | {"bool", "float16", "float32", "float64"} | {f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
)


def pack(message: Any, *, text_keys: bool = False) -> bytes:
    """The message in openpi's coding, or with `text_keys` in the other one. Raises ValueError for other types."""
    coded: bytes = msgpack.packb(message, default=_coded_as_text if text_keys else _coded)
    return coded


def unpack(frame: bytes) -> Any:
    """Maps, lists, texts, numbers and arrays; the arrays are read-only. Raises BadFrame."""
    try:
        return msgpack.unpackb(frame, object_hook=_array_of, ext_hook=_no_extension, strict_map_key=True)
    except BadFrame:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, msgpack.exceptions.UnpackException) as error:
        raise BadFrame(f"the frame is no msgpack: {type(error).__name__}") from None


def _coded(value: Any) -> dict[bytes, Any]:
    return {name.encode(): part for name, part in _parts(value, "str").items()}


def _coded_as_text(value: Any) -> dict[str, Any]:
    return _parts(value, "name")


def _parts(value: Any, naming: str) -> dict[str, Any]:
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in KINDS:
        raise ValueError(f"a message holds no {getattr(value, 'dtype', type(value).__name__)}")
    if naming == "name":  # which does not tell the order of bytes
        value = value.astype(value.dtype.newbyteorder("="))
    dtype = getattr(value.dtype, naming)
    if isinstance(value, np.ndarray):
        return {ARRAY: True, "data": value.tobytes(), "dtype": dtype, "shape": list(value.shape)}
    return {SCALAR: True, "data": value.item(), "dtype": dtype}


def _no_extension(code: int, data: bytes) -> Any:
    raise BadFrame(f"the frame has an extension ({code}); expected maps, lists, texts, numbers and arrays")


def _array_of(found: dict[Any, Any]) -> Any:
    """What a map of an array or a scalar stands for; other maps as they are."""
    if not {ARRAY, SCALAR, ARRAY.encode(), SCALAR.encode()} & found.keys():
        return found
    parts = {key.decode("latin-1") if isinstance(key, bytes) else key: value for key, value in found.items()}
    dtype = dtype_of(parts.get("dtype"))
    if ARRAY in parts:
        return array_of(parts.get("data"), parts.get("shape"), dtype)
    return _scalar(parts, dtype)


def dtype_of(name: Any) -> np.dtype[Any]:
    """A type of numbers that is read, by either of its names. Raises BadFrame."""
    text = name.decode("latin-1") if isinstance(name, bytes) else name
    if not isinstance(text, str) or text not in NAMES:
        raise BadFrame("an array is of no type that is read; expected float, int, uint or bool")
    try:
        return np.dtype(text)
    except TypeError:
        raise BadFrame("an array is of no type that is read; expected float, int, uint or bool") from None


def array_of(data: Any, shape: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A read-only array of bytes and a list of lengths. Raises BadFrame."""
    if not isinstance(data, bytes) or not isinstance(shape, list) or len(shape) > MOST_AXES:
        raise BadFrame(f"an array lacks data or shape; expected bytes, and up to {MOST_AXES} lengths")
    if not all(isinstance(length, int) and not isinstance(length, bool) and length >= 0 for length in shape):
        raise BadFrame("the shape of an array is no list of whole numbers from 0")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise BadFrame(f"an array of {shape} {dtype.name} has {len(data)} bytes")
    return np.frombuffer(data, dtype).reshape(shape)


def _scalar(parts: dict[str, Any], dtype: np.dtype[Any]) -> Any:
    value = parts.get("data")
    if not isinstance(value, int | float):
        raise BadFrame("a scalar is no number")
    try:
        return dtype.type(value)
    except (OverflowError, ValueError):
        raise BadFrame(f"a scalar does not fit into {dtype.name}") from None
