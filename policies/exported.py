"""Playing a folder's network without torch: ONNX Runtime computes it, in less memory.

A folder is played so if it holds what torch answered when the folder was made (`policies.reference`), its weights are
small, and the same comes out here. Everything else is torch's.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import OpenedPolicy, PolicyCard
from policies.folder import WEIGHTS
from policies.reference import agrees
from policies.registry import needs_torch

log = logging.getLogger(__name__)
Weights = dict[str, NDArray[np.float32]]
FLOAT = np.dtype(np.float32).itemsize
_BFLOAT, _WIDER = "BF16", {"F32": np.float32, "F16": np.float16}


def open_exported(
    folder: Path, card: PolicyCard, device: str | None, make: Callable[[Path, PolicyCard], OpenedPolicy]
) -> OpenedPolicy | None:
    """What `make` opens, if it answers as torch did; None where torch has to open the folder, or to refuse it."""
    if needs_torch(folder, device):
        return None
    try:
        policy = make(folder, card)
        if agrees(policy, folder):
            return policy
        log.warning("%s: ONNX Runtime answers something else than torch did; torch plays it", card.spec.id)
    except Exception:  # whatever is wrong with the folder, torch's way tells it better
        log.warning("%s: ONNX Runtime cannot open it; torch tries", card.spec.id, exc_info=True)
    return None


def read_weights(folder: Path) -> Weights:
    """All tensors of a folder in float32, whatever they are stored in. Raises ValueError for other numbers."""
    import safetensors

    found = safetensors.deserialize((folder / WEIGHTS).read_bytes())  # type: ignore[no-untyped-call]
    weights = {name: _widened(each["dtype"], each["data"]).reshape(each["shape"]) for name, each in found}
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{name}: expected finite numbers")
    return weights


def _widened(kind: str, content: bytes) -> NDArray[np.float32]:
    if kind == _BFLOAT:  # the upper half of a float32
        return (np.frombuffer(content, np.uint16).astype(np.uint32) << 16).view(np.float32)
    if kind not in _WIDER:
        raise ValueError(f"{kind}: expected one of {_BFLOAT}, {', '.join(_WIDER)}")
    return np.frombuffer(content, _WIDER[kind]).astype(np.float32)


def expected_bytes(folder: Path) -> int:
    """Bytes of a folder's weights in float32, from the header of its file alone."""
    import safetensors

    with safetensors.safe_open(folder / WEIGHTS, "numpy") as stored:
        names: Iterable[str] = stored.keys()
        return sum(FLOAT * math.prod(stored.get_slice(name).get_shape()) for name in names)


def open_session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # rollouts share the cores
    options.enable_cpu_mem_arena = False  # each process would keep its own
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # which it keeps whole, to begin anew on another device
    return session
