"""The same work over and over on a CUDA device without launching each kernel anew: one graph per set of shapes."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from policies.base import PolicyError

log = logging.getLogger(__name__)
Function = Callable[..., tuple[Tensor, ...]]
SWITCH = "ARENA_CUDA_GRAPHS"
KEEP = 24  # graphs; the least recently used is let go
WARM_UPS = 3  # runs before recording: libraries choose kernels and take their workspace then

# CUDA allows one recording at a time in a process, and none while another thread waits for the whole device or frees
# memory of it.
recording = threading.RLock()
_sides: dict[torch.device, Any] = {}  # a stream for recording per device: each further one would keep a workspace


def is_on() -> bool:
    """Whether work on CUDA is recorded, which ARENA_CUDA_GRAPHS=0 switches off. Raises PolicyError for nonsense."""
    value = os.environ.get(SWITCH) or "1"
    if value not in ("0", "1"):
        raise PolicyError(f"{SWITCH}={value!r} is neither 1 (record) nor 0 (do not)")
    return value == "1"


def empty_cache() -> None:
    """Give memory that torch keeps for later back to the CUDA device, while nothing is recorded."""
    with recording:
        torch.cuda.empty_cache()


class Replay:
    """A function of tensors, answering tensors. On CUDA it is recorded once per shapes and replayed; elsewhere called.

    The function must ask the device for no number and must allocate nothing that outlives it. Arguments may lie on the
    CPU; results are the caller's to keep. Where recording fails, and where it is switched off, the function is called
    on the device: slower, with the same results.
    """

    def __init__(self, function: Function, device: torch.device) -> None:
        self._function, self._device = function, device
        self._graphs: OrderedDict[tuple[Any, ...], _Graph] = OrderedDict()
        self._pool: Any = None
        self._records = device.type == "cuda" and is_on()

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        if self._device.type != "cuda":
            return self._function(*inputs)
        graph = self._graph(inputs) if self._records else None
        return graph(inputs) if graph else self._function(*(_moved(tensor, self._device) for tensor in inputs))

    def _graph(self, inputs: tuple[Tensor, ...]) -> _Graph | None:
        """The graph of these shapes; None where recording failed."""
        key = tuple((tuple(tensor.shape), tensor.dtype) for tensor in inputs)
        if key not in self._graphs:
            graph = self._try_to_record(inputs)
            if graph is None:
                return None
            self._graphs[key] = graph
            if len(self._graphs) > KEEP:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end(key)
        return self._graphs[key]

    def _try_to_record(self, inputs: tuple[Tensor, ...]) -> _Graph | None:
        """None after a failure, which ends recording for this function: what fails once fails for other shapes, too.

        Raises when memory runs out, so that other policies can be closed for this one.
        """
        with recording:
            try:
                return self._record(inputs)
            except RuntimeError as error:
                self._pool = None
                _sides.pop(self._device, None)  # its recording may not have ended
                if isinstance(error, torch.OutOfMemoryError) or isinstance(error.__context__, torch.OutOfMemoryError):
                    raise
                log.warning("A CUDA graph could not be recorded; this work is slower without it", exc_info=True)
                self._records = False
                return None

    def _record(self, inputs: tuple[Tensor, ...]) -> _Graph:
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        with torch.cuda.device(self._device):
            before = torch.cuda.current_stream()
            try:
                places = tuple(_moved(tensor, self._device, copy=True) for tensor in inputs)
                return _Graph(self._function, places, self._pool, _side(self._device))
            finally:
                torch.cuda.set_stream(before)  # torch leaves its own behind where a recording fails at its end


class _Graph:
    """Recorded work with its places for arguments and results."""

    def __init__(self, function: Function, places: tuple[Tensor, ...], pool: Any, side: Any) -> None:
        self._places = places
        self._graph = torch.cuda.CUDAGraph()
        current = torch.cuda.current_stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                function(*places)
        current.wait_stream(side)
        # thread_local: other threads may open policies and allocate memory meanwhile
        with torch.cuda.graph(self._graph, pool=pool, stream=side, capture_error_mode="thread_local"):
            self._results = function(*places)

    def __call__(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        for place, tensor in zip(self._places, inputs, strict=True):
            place.copy_(tensor, non_blocking=True)
        self._graph.replay()
        return tuple(result.clone() for result in self._results)


def _side(device: torch.device) -> Any:
    """The stream on which work of this device is warmed up and recorded. Held under `recording`."""
    if device not in _sides:
        _sides[device] = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    return _sides[device]


def _moved(tensor: Tensor, device: torch.device, *, copy: bool = False) -> Tensor:
    return tensor.to(device, copy=copy)
