"""The memory that a policy's weights take, before and after loading, and what a device has."""

from __future__ import annotations

import gc
import math
from pathlib import Path
from typing import Any

import psutil
import torch
from torch import nn

from policies import checkpoints, devices, flax_checkpoint
from policies.base import PolicyError
from policies.networks import replay
from policies.registry import describe

HEADROOM = 1.1  # while loading, one tensor exists twice
# Of a device's memory, for all weights together. A graphics card serves policies alone: openvla-7b's 15.1 GB and
# octo-base's 0.8 GB fit into one of 24 GB; what is left takes activations, recorded graphs and CUDA itself.
SHARES = {"cuda": 0.8, "cpu": 0.6}


class OutOfMemory(PolicyError):
    """The device has no room for the policy."""

    code = "out_of_memory"


def expected_bytes(folder: Path, device: str | None = None, statistics_key: str | None = None) -> int:
    """Bytes that the weights of a folder will take on the device, from the headers of its files alone."""
    _, dtype = checkpoints.default_device(device, describe(folder, statistics_key).spec.family)
    stored = flax_checkpoint.find_tensors(folder)
    return sum(math.prod(tensor.shape) for tensor in stored.values()) * dtype.itemsize


def measured_bytes(policy: Any) -> int:
    """Bytes of an opened policy's tensors, each storage counted once; 0 for one without a network."""
    tensors = (each for network in _networks(policy) for each in (*network.parameters(), *network.buffers()))
    storages = (tensor.untyped_storage() for tensor in tensors)
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def allocated(device: str) -> int:
    """Bytes that tensors take on a GPU at present; 0 for any other device, where it is not counted."""
    return int(torch.cuda.memory_allocated(device)) if torch.device(device).type == "cuda" else 0


def free(device: str) -> int:
    """Bytes of the device that are free."""
    if torch.device(device).type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)


def total(device: str) -> int:
    """Bytes of the device's memory."""
    if torch.device(device).type == "cuda":
        return int(torch.cuda.mem_get_info(device)[1])
    return int(psutil.virtual_memory().total)


def budget(device: str, processes: int = 1) -> int:
    """Bytes that one of `processes` may use for weights, unless it is configured. Raises UnknownDevice."""
    return int(SHARES[devices.find(device).type] * total(device) / processes)


def release(device: str) -> None:
    """Free the memory of closed policies."""
    gc.collect()
    if torch.device(device).type == "cuda":
        replay.empty_cache()


def parameters(policy: Any) -> int:
    """Numbers in the network of an opened policy."""
    return sum(each.numel() for network in _networks(policy) for each in network.state_dict().values())


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether this error or one of its causes says that memory ran out, on a GPU or elsewhere."""
    while error is not None:
        said = isinstance(error, RuntimeError) and "not enough memory" in str(error)
        if said or isinstance(error, MemoryError | torch.OutOfMemoryError | OutOfMemory):
            return True
        error = error.__cause__ or error.__context__
    return False


def _networks(policy: Any) -> list[nn.Module]:
    return [value for value in vars(policy).values() if isinstance(value, nn.Module)]
