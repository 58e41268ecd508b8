"""The memory that a policy's weights take, before and after loading, and what a device has.

Loads torch only for a device that is not the CPU, or for a policy that is torch's: the others are opened without it.
"""

from __future__ import annotations

import gc
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from policies.base import PolicyError
from policies.registry import describe, needs_torch

if TYPE_CHECKING:
    from torch import nn

CPU = "cpu"

HEADROOM = 1.1  # while loading, one tensor exists twice
# Of a device's memory, for all weights together. A graphics card serves policies alone: openvla-7b's 15.1 GB and
# octo-base's 0.8 GB fit into one of 24 GB; what is left takes activations, recorded graphs and CUDA itself.
SHARES = {"cuda": 0.8, "cpu": 0.6}


class OutOfMemory(PolicyError):
    """The device has no room for the policy."""

    code = "out_of_memory"


def expected_bytes(folder: Path, device: str | None = None, statistics_key: str | None = None) -> int:
    """Bytes that the weights of a folder will take on the device, from the headers of its files alone."""
    if not needs_torch(folder, device):
        from policies import exported

        return exported.expected_bytes(folder)
    from policies import checkpoints, flax_checkpoint

    _, dtype = checkpoints.default_device(device, describe(folder, statistics_key).spec.family)
    stored = flax_checkpoint.find_tensors(folder)
    return sum(math.prod(tensor.shape) for tensor in stored.values()) * dtype.itemsize


def measured_bytes(policy: Any) -> int:
    """Bytes of an opened policy's tensors, each storage counted once; 0 for one without a network."""
    if (told := getattr(policy, "weights_bytes", None)) is not None:
        return int(told)
    tensors = (each for network in _networks(policy) for each in (*network.parameters(), *network.buffers()))
    storages = (tensor.untyped_storage() for tensor in tensors)
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def allocated(device: str) -> int:
    """Bytes that tensors take on a GPU at present; 0 for any other device, where it is not counted."""
    return int(_cuda().memory_allocated(device)) if _is_card(device) else 0


def free(device: str) -> int:
    """Bytes of the device that are free."""
    return int(_cuda().mem_get_info(device)[0] if _is_card(device) else psutil.virtual_memory().available)


def total(device: str) -> int:
    """Bytes of the device's memory."""
    return int(_cuda().mem_get_info(device)[1] if _is_card(device) else psutil.virtual_memory().total)


def budget(device: str, processes: int = 1) -> int:
    """Bytes that one of `processes` may use for weights, unless it is configured. Raises UnknownDevice."""
    check(device)
    return int(SHARES["cuda" if _is_card(device) else CPU] * total(device) / processes)


def release(device: str) -> None:
    """Free the memory of closed policies."""
    gc.collect()
    if _is_card(device):
        from policies.networks import replay

        replay.empty_cache()


def check(device: str | None) -> None:
    """Raise UnknownDevice, which lists the devices of this machine, for one that it lacks. The CPU is always there."""
    if device not in (None, CPU):
        from policies import devices

        devices.find(device)


def share_cores() -> None:
    """Let torch compute with one thread, because rollouts share the cores, whether it is loaded already or will be."""
    os.environ["OMP_NUM_THREADS"] = "1"
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def parameters(policy: Any) -> int:
    """Numbers in the network of an opened policy."""
    if (told := getattr(policy, "parameters", None)) is not None:
        return int(told)
    return sum(each.numel() for network in _networks(policy) for each in network.state_dict().values())


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether this error or one of its causes says that memory ran out, on a GPU or elsewhere."""
    torch = sys.modules.get("torch")
    kinds = (MemoryError, OutOfMemory, *([torch.OutOfMemoryError] if torch else []))
    while error is not None:
        said = isinstance(error, RuntimeError) and "not enough memory" in str(error)
        if said or isinstance(error, kinds):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_card(device: str) -> bool:
    return device.startswith("cuda")


def _cuda() -> Any:
    import torch

    return torch.cuda


def _networks(policy: Any) -> list[nn.Module]:
    torch = sys.modules.get("torch")
    return [value for value in vars(policy).values() if torch and isinstance(value, torch.nn.Module)]
