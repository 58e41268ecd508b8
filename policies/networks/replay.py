"""The same work over and over on a CUDA device without launching each kernel anew: one graph per set of shapes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., tuple[Tensor, ...]]
KEEP = 24  # graphs; the least recently used is let go
WARM_UPS = 3  # runs before recording: libraries choose kernels and take their workspace then


class Replay:
    """A function of tensors, answering tensors. On CUDA it is recorded once per shapes and replayed; elsewhere called.

    The function must ask the device for no number and must allocate nothing that outlives it. Arguments may lie on the
    CPU; results are the caller's to keep.
    """

    def __init__(self, function: Function, device: torch.device) -> None:
        self._function, self._device = function, device
        self._graphs: OrderedDict[tuple[Any, ...], _Graph] = OrderedDict()
        self._pool: Any = None

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        if self._device.type != "cuda":
            return self._function(*inputs)
        key = tuple((tuple(tensor.shape), tensor.dtype) for tensor in inputs)
        if key not in self._graphs:
            self._graphs[key] = self._record(inputs)
            if len(self._graphs) > KEEP:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end(key)
        return self._graphs[key](inputs)

    def _record(self, inputs: tuple[Tensor, ...]) -> _Graph:
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        return _Graph(self._function, tuple(tensor.to(self._device, copy=True) for tensor in inputs), self._pool)


class _Graph:
    """Recorded work with its places for arguments and results."""

    def __init__(self, function: Function, places: tuple[Tensor, ...], pool: Any) -> None:
        self._places = places
        self._graph = torch.cuda.CUDAGraph()
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UPS):
                function(*places)
        torch.cuda.current_stream().wait_stream(aside)
        # thread_local: other threads may open policies and allocate memory meanwhile
        with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
            self._results = function(*places)

    def __call__(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        for place, tensor in zip(self._places, inputs, strict=True):
            place.copy_(tensor, non_blocking=True)
        self._graph.replay()
        return tuple(result.clone() for result in self._results)
