"""Layers of transformers as ONNX operations, for the tokens of one example: rows (n, dim)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.onnx import Graph

Array = NDArray[np.float32]
Affine = tuple[str, str]  # a kernel (in, out) and a bias (out,), by the names of their values
END = int(np.iinfo(np.int64).max)


class NotExported(ValueError):
    """A network that torch alone computes."""


class Layers:
    """A graph of a network with these weights. `read`: those that were asked for. All values are known by names."""

    def __init__(self, name: str, weights: Mapping[str, Array]) -> None:
        self.graph = Graph(name)
        self.add, self.constant = self.graph.add, self.graph.constant
        self.read: set[str] = set()
        self._weights = weights

    def array(self, name: str) -> Array:
        """Raises KeyError for a missing weight."""
        self.read.add(name)
        return self._weights[name]

    def number(self, value: float) -> str:
        return self.constant(np.array([value], np.float32))

    def shape(self, *sizes: int) -> str:
        return self.constant(np.array(sizes, np.int64))

    def pair(self, first: str, second: str) -> Affine:
        """Two weights as they are stored."""
        return self.constant(self.array(first)), self.constant(self.array(second))

    def dense(self, x: str, layer: Affine) -> str:
        return self.add("Gemm", x, *layer)

    def normed(self, x: str, norm: Affine, eps: float) -> str:
        """`norm`: scale and bias."""
        return self.add("LayerNormalization", x, *norm, epsilon=eps)

    def rms_normed(self, x: str, weight: str, eps: float) -> str:
        square = self.add("ReduceMean", self.add("Mul", x, x), axes=(-1,), keepdims=1)
        deviation = self.add("Sqrt", self.add("Add", square, self.number(eps)))
        return self.add("Mul", self.add("Div", x, deviation), weight)

    def silu(self, x: str) -> str:
        return self.add("Mul", x, self.add("Sigmoid", x))

    def gelu(self, x: str) -> str:
        """The exact one."""
        grown = self.add("Add", self.add("Erf", self.add("Div", x, self.number(2**0.5))), self.number(1))
        return self.add("Mul", self.add("Mul", x, grown), self.number(0.5))

    def tanh_gelu(self, x: str) -> str:
        cube = self.add("Mul", self.add("Mul", x, self.add("Mul", x, x)), self.number(0.044715))
        bent = self.add("Tanh", self.add("Mul", self.add("Add", x, cube), self.number((2 / np.pi) ** 0.5)))
        return self.add("Mul", self.add("Mul", x, self.add("Add", bent, self.number(1))), self.number(0.5))

    def heads(self, x: str, count: int, size: int) -> str:
        """(n, count * size) -> (count, n, size)."""
        return self.add("Transpose", self.add("Reshape", x, self.shape(-1, count, size)), perm=(1, 0, 2))

    def attend(self, query: str, keys: str, values: str, width: int, bias: str | None = None) -> str:
        """Queries (heads, n, size), scaled as wanted, on keys and values (heads, m, size) -> (n, width).

        `bias`: added to the scores (heads, n, m).
        """
        scores = self.add("MatMul", query, self.add("Transpose", keys, perm=(0, 2, 1)))
        scores = scores if bias is None else self.add("Add", scores, bias)
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), values)
        return self.add("Reshape", self.add("Transpose", mixed, perm=(1, 0, 2)), self.shape(-1, width))

    def split(self, x: str, sizes: Sequence[int], axis: int = 0) -> list[str]:
        return self.graph.add_many("Split", len(sizes), x, self.shape(*sizes), axis=axis)

    def part(self, x: str, start: int, end: int = END, axis: int = 0) -> str:
        """x[start:end] along an axis."""
        return self.add("Slice", x, self.shape(start), self.shape(end), self.shape(axis))

    def joined(self, *parts: str, axis: int = 0) -> str:
        return self.add("Concat", *parts, axis=axis) if len(parts) > 1 else parts[0]


def all_read(weights: Mapping[str, Any], read: set[str], unread: Sequence[str] = ()) -> None:
    """Raise NotExported for a weight that no graph has. `unread`: how the names of those begin that play no part."""
    if strange := sorted(name for name in set(weights) - read if not name.startswith(tuple(unread))):
        raise NotExported(f"the network has no {strange[0]}")
