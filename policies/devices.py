"""The devices of this machine, and the number types that networks have there."""

from __future__ import annotations

import os

import torch

from policies.base import PolicyError

OCTO_TYPE = "ARENA_OCTO_CUDA_DTYPE"
_TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class UnknownDevice(PolicyError):
    """A device that this machine lacks. The message lists those that it has."""

    code = "unknown_device"


def present() -> list[str]:
    """Names of this machine's devices, the CPU first."""
    return ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]


def find(name: str | None = None) -> torch.device:
    """The named device, the CPU without a name. Raises UnknownDevice, which lists the devices of this machine."""
    try:
        device = torch.device(name or "cpu")
    except (RuntimeError, ValueError):
        raise UnknownDevice(f"device {name!r} is no device's name; {_there()}") from None
    numbered = device.type == "cpu" or ":" in str(device)
    if (str(device) if numbered else f"{device}:0") not in present():
        raise UnknownDevice(f"device {name!r} is not on this machine; {_there()}")
    return device


def number_type(family: str, device: torch.device) -> torch.dtype:
    """float32; on CUDA bfloat16 for OpenVLA, which was trained in it, and for Octo where ARENA_OCTO_CUDA_DTYPE says so.

    Raises PolicyError for an unknown value of the variable.
    """
    if device.type != "cuda" or family not in ("openvla", "octo"):
        return torch.float32
    return torch.bfloat16 if family == "openvla" else _octo_type()


def _octo_type() -> torch.dtype:
    name = os.environ.get(OCTO_TYPE) or "float32"
    if name not in _TYPES:
        raise PolicyError(f"{OCTO_TYPE}={name!r} is unknown; known are {', '.join(_TYPES)}")
    return _TYPES[name]


def exact_float32() -> None:
    """Keep cuDNN from rounding the factors of float32 convolutions to ten bits (TF32), which torch lets it do."""
    torch.backends.cudnn.allow_tf32 = False


def _there() -> str:
    lacking = f" (torch {torch.__version__} is built without CUDA)" if torch.version.cuda is None else ""
    return f"there: {', '.join(present())}{lacking}"
