"""Writing a network as an ONNX model: the few messages of the format that networks here need, and no package for it.

The numbers of the fields are those of onnx.proto, ir_version 8, operator set 17.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IR_VERSION, OPERATORS = 8, 17
FLOAT, INT, TEXT, INTS = 1, 2, 3, 7  # AttributeProto.type
_ELEMENTS = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}  # TensorProto.data_type
Shape = Sequence[int | None]  # None: any length


class Graph:
    """Operations in the order in which they are added. Values have names; `model` gives the whole as bytes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._fields: list[bytes | memoryview] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def input(self, name: str, shape: Shape, kind: type = np.float32) -> str:
        """A float32 or int64 input of this shape."""
        self._inputs.append(_value(name, shape, kind))
        return name

    def output(self, value: str, name: str, shape: Shape, kind: type = np.float32) -> None:
        """Give a value out under another name."""
        self._outputs.append(_value(name, shape, kind))
        self._node("Identity", [value], [name], {})

    def constant(self, array: NDArray[Any]) -> str:
        """A float32 or int64 array."""
        name, whole = self._name("constant"), np.ascontiguousarray(array)
        head = _tensor_head(name, whole)
        self._fields += [_begun(5, len(head) + whole.nbytes) + head, whole.reshape(-1).view(np.uint8).data]
        return name

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """One operation with one result, whose name is answered."""
        (result,) = self.add_many(operation, 1, *inputs, **attributes)
        return result

    def add_many(self, operation: str, results: int, *inputs: str, **attributes: Any) -> list[str]:
        names = [self._name(operation) for _ in range(results)]
        self._node(operation, inputs, names, attributes)
        return names

    def model(self) -> bytes:
        """The weights are copied here, and nowhere else."""
        graph = [*self._fields, _field(2, self.name.encode())]
        graph += [*_fields(11, self._inputs), *_fields(12, self._outputs)]
        operators = _field(8, _field(1, b"") + _field(2, OPERATORS))
        return b"".join([_field(1, IR_VERSION), _begun(7, sum(map(len, graph))), *graph, operators])

    def _name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def _node(self, operation: str, inputs: Iterable[str], outputs: Iterable[str], attributes: dict[str, Any]) -> None:
        node = [_field(1, name.encode()) for name in inputs] + [_field(2, name.encode()) for name in outputs]
        node += [_field(4, operation.encode()), *_fields(5, [_attribute(*item) for item in attributes.items()])]
        self._fields.append(_field(1, b"".join(node)))


def _value(name: str, shape: Shape, kind: type) -> bytes:
    dimensions = b"".join(_field(1, b"" if size is None else _field(1, size)) for size in shape)
    tensor = _field(1, _ELEMENTS[np.dtype(kind)]) + _field(2, dimensions)
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _tensor_head(name: str, array: NDArray[Any]) -> bytes:
    """All of a tensor but its numbers."""
    sizes = b"".join(_field(1, size) for size in array.shape)
    return sizes + _field(2, _ELEMENTS[array.dtype]) + _field(8, name.encode()) + _begun(9, array.nbytes)


def _attribute(name: str, value: float | str | Sequence[int]) -> bytes:
    if isinstance(value, float):
        kind, content = FLOAT, _key(2, 5) + struct.pack("<f", value)
    elif isinstance(value, int):
        kind, content = INT, _field(3, value)
    elif isinstance(value, str):
        kind, content = TEXT, _field(4, value.encode())
    else:
        kind, content = INTS, b"".join(_field(8, number) for number in value)
    return _field(1, name.encode()) + content + _field(20, kind)


def _fields(number: int, contents: Iterable[bytes]) -> list[bytes]:
    return [_field(number, content) for content in contents]


def _field(number: int, content: int | bytes) -> bytes:
    """One field of a protobuf message: a number, or bytes with their length."""
    if isinstance(content, int):
        return _key(number, 0) + _varint(content)
    return _begun(number, len(content)) + content


def _begun(number: int, length: int) -> bytes:
    """What comes before the content of a field of so many bytes."""
    return _key(number, 2) + _varint(length)


def _key(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # negative numbers are two's complement
    rest = bytearray()
    while number > 0x7F:
        rest.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*rest, number])
