"""The FiLM network as an ONNX graph: the numbers of `networks.film.FilmNetwork`, up to rounding, in one call.

Takes `picture` (1, 3 * patch**2 * pictures, S, S), `text` (1, text_dim) and `readings` (1, proprioception), with a
memory also `known` (1, stages), 1 at the count of noticed stages. Gives `action` (1, chunk * (5 + yaw_bins + 1)), and
where the network has them `stage` (1, stages) and `moves` (1, chunk * 3 * move_bins), logits. What only training reads
is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.film.sizes import LINEAR_DIMS, MOVE_DIMS, NORM_EPS, NORM_GROUPS, SUPERVISED_MAPS, FilmConfig
from policies.onnx import Graph
from policies.onnx_layers import all_read

Weights = Mapping[str, NDArray[np.float32]]
UNREAD = ("aux.", "text.")  # of training alone; of the sentence, which is encoded once


def film_graph(config: FilmConfig, weights: Weights) -> bytes:
    """An ONNX model. Raises KeyError for a missing weight, NotExported for one that the network lacks."""
    graph = _FilmGraph(config, weights)
    model = graph.build()
    all_read(weights, graph.read, UNREAD)
    return model


class _FilmGraph:
    def __init__(self, config: FilmConfig, weights: Weights) -> None:
        self.config, self.weights, self.graph = config, weights, Graph("film")
        self.read: set[str] = set()

    def build(self) -> bytes:
        config, graph, size = self.config, self.graph, self.config.map_size
        picture = graph.input("picture", (1, 3 * config.patch**2 * config.pictures, size, size))
        text = self._remembered(graph.input("text", (1, config.text_dim)))
        readings = graph.input("readings", (1, config.proprioception))
        x = self._convolved("stem2", self._relu(self._convolved("stem1", picture)))
        x = self._relu(graph.add("Add", x, self._weight("place")))
        for number, modulation in enumerate(self._modulations(text)):
            x = self._block(f"blocks.{number}", config.dilations[number], x, modulation)
        seen = self._read_out(x, text, readings)
        chosen = self._head(seen)
        action = self._linear("action", chosen)
        graph.output(action, "action", (1, config.chunk * (LINEAR_DIMS + config.yaw_bins + 1)))
        if config.stages:
            stage = self._linear("memory.notice.2", self._relu(self._linear("memory.notice.0", seen)))
            graph.output(stage, "stage", (1, config.stages))
        if config.move_bins:
            moves = self._linear("moves", chosen)
            graph.output(moves, "moves", (1, config.chunk * MOVE_DIMS * config.move_bins))
        return graph.model()

    def _remembered(self, text: str) -> str:
        if not self.config.stages:
            return text
        known = self.graph.input("known", (1, self.config.stages))
        recalled = self._relu(self._linear("memory.recall.0", self._joined(text, known)))
        return self.graph.add("Add", text, self._linear("memory.change", recalled))

    def _modulations(self, text: str) -> Iterator[list[str]]:
        """Of every block 1 + scale and shift, (1, C, 1, 1) each."""
        shape, one = self.graph.constant(np.array([1, -1, 1, 1])), self.graph.constant(np.ones(1, np.float32))
        for number in range(len(self.config.dilations)):
            both = self.graph.add("Reshape", self._linear(f"blocks.{number}.film", text), shape)
            scale, shift = self.graph.add_many("Split", 2, both, axis=1)
            yield [self.graph.add("Add", scale, one), shift]

    def _block(self, name: str, dilation: int, x: str, modulation: list[str]) -> str:
        h = self._normed(self._convolved(f"{name}.conv1", x, dilation, bias=False))
        h = self._relu(self.graph.add("Add", self.graph.add("Mul", h, modulation[0]), modulation[1]))
        return self._relu(self.graph.add("Add", x, self._convolved(f"{name}.conv2", h)))

    def _normed(self, x: str) -> str:
        """Normalised over groups of channels."""
        add, constant, size = self.graph.add, self.graph.constant, self.config.map_size
        grouped = add("Reshape", x, constant(np.array([1, NORM_GROUPS, -1])))
        one, zero = constant(np.ones(NORM_GROUPS, np.float32)), constant(np.zeros(NORM_GROUPS, np.float32))
        normed = add("InstanceNormalization", grouped, one, zero, epsilon=NORM_EPS)
        return add("Reshape", normed, constant(np.array([1, self.config.channels, size, size])))

    def _read_out(self, x: str, text: str, readings: str) -> str:
        """Keypoints, -1..1, and what the pooling maps weigh, beside sentence and readings: (1, read_out)."""
        add, constant, config = self.graph.add, self.graph.constant, self.config
        flat = constant(np.array([0, 0, -1]))
        weights = add("Softmax", add("Reshape", self._convolved("maps", x), flat), axis=-1)
        rows = constant(np.array([config.keypoints, config.pools]))
        keypoints, pools = self.graph.add_many("Split", 2, weights, rows, axis=1)
        points = add("MatMul", keypoints, constant(_middles(config.map_size)))
        supervised = add("Gather", keypoints, constant(np.arange(SUPERVISED_MAPS)), axis=1)
        features = add("Transpose", add("Reshape", x, flat), perm=(0, 2, 1))
        pooled = add("MatMul", add("Concat", supervised, pools, axis=1), features)
        line = constant(np.array([1, -1]))
        return self._joined(add("Reshape", points, line), add("Reshape", pooled, line), text, readings)

    def _head(self, seen: str) -> str:
        h = self._linear("head.0", seen)
        h = self.graph.add(
            "LayerNormalization", h, self._weight("head.1.weight"), self._weight("head.1.bias"), epsilon=NORM_EPS
        )
        return self._relu(self._linear("head.3", self._relu(h)))

    def _linear(self, name: str, x: str) -> str:
        return self.graph.add("Gemm", x, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"), transB=1)

    def _convolved(self, name: str, x: str, dilation: int = 1, bias: bool = True) -> str:
        """As large as before, whatever the kernel's size."""
        side = self.weights[f"{name}.weight"].shape[-1]
        terms = [self._weight(f"{name}.weight"), *([self._weight(f"{name}.bias")] if bias else [])]
        edge = dilation * (side // 2)
        return self.graph.add("Conv", x, *terms, dilations=(dilation,) * 2, pads=(edge,) * 4)

    def _relu(self, x: str) -> str:
        return self.graph.add("Relu", x)

    def _joined(self, *values: str) -> str:
        return self.graph.add("Concat", *values, axis=1)

    def _weight(self, name: str) -> str:
        self.read.add(name)
        return self.graph.constant(self.weights[name])


def _middles(size: int) -> NDArray[Any]:
    """x, y of the middle of every cell of a map, -1..1, (size * size, 2) float32."""
    axis = ((np.arange(size) + 0.5) / size * 2 - 1).astype(np.float32)
    return np.stack([np.tile(axis, size), np.repeat(axis, size)], 1)
