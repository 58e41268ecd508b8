"""Times an action of a network on one core or one device: `python -m policies.bench octo-mini` prints a JSON object.

Each network has a process of its own, so that the first action and the memory are those of a fresh worker.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import torch

from policies import devices
from policies.base import PolicyError
from policies.bench_subjects import PUBLISHED, NoRoom, folder, published

ROUNDS = 40
BATCH = 8
COPIED = 1 << 28  # bytes: far more than any cache holds


@dataclass(frozen=True)
class ActionTiming:
    """Milliseconds per action: wall time on a GPU, processor time on a CPU.

    `first_ms`: the first action of the process. `memory_mb`: what opening and playing added. `floor_ms`: the time to
    read all weights of an action at the bandwidth of a large copy; weights that fit into caches can be read faster.
    """

    name: str
    device: str
    action_ms: list[float]
    plain_ms: list[float]
    batch_ms: list[float]
    first_ms: float
    memory_mb: float
    weights_mb: float
    floor_ms: float
    bandwidth_gb_s: float


def measure(name: str, device: str | None, rounds: int = ROUNDS) -> ActionTiming:
    """`name`: a published size, or a policy's folder. Raises NoRoom and PolicyError."""
    devices.find(device)
    torch.set_num_threads(1)
    before = _memory(device)
    subject = published(name, device) if name in PUBLISHED else folder(Path(name), device)
    with torch.inference_mode():
        clock = _clock(device)
        (first,) = _times(lambda: subject.act(1), 1, clock)
        memory = _memory(device) - before
        rows = [_times(act, 1, clock) for _ in range(1 + rounds) for act in (lambda: subject.act(1), subject.plain)]
        batches = _times(lambda: subject.act(BATCH), 2 + rounds // BATCH, clock)[1:]
    bandwidth = copy_bandwidth(device)
    return ActionTiming(
        name=Path(name).name,
        device=torch.cuda.get_device_name() if _on_cuda(device) else "cpu, one core",
        action_ms=[ms for (ms,) in rows[2::2]],
        plain_ms=[ms for (ms,) in rows[3::2]],
        batch_ms=[batch / BATCH for batch in batches],
        first_ms=first,
        memory_mb=memory / 1e6,
        weights_mb=sum(t.numel() * t.element_size() for t in subject.network.parameters()) / 1e6,
        floor_ms=1e3 * subject.bytes_read / bandwidth,
        bandwidth_gb_s=bandwidth / 1e9,
    )


def copy_bandwidth(device: str | None) -> float:
    """Bytes read and written per second by copying, the best of six: the machine's bandwidth at present."""
    source, target = (torch.ones(COPIED, dtype=torch.uint8, device=device or "cpu") for _ in range(2))

    def copy() -> None:
        target.copy_(source)
        if _on_cuda(device):
            torch.cuda.synchronize()

    return 2 * COPIED / (min(_times(copy, 6, _clock(device))) / 1e3)


def _times(function: Callable[[], object], count: int, clock: Callable[[], float]) -> list[float]:
    taken = []
    for _ in range(count):
        before = clock()
        function()
        taken.append(1e3 * (clock() - before))
    return taken


def _memory(device: str | None) -> int:
    """Bytes that this process holds on the network's device."""
    if _on_cuda(device):
        return torch.cuda.max_memory_reserved()
    return int(psutil.Process().memory_info().rss)


def _clock(device: str | None) -> Callable[[], float]:
    return time.perf_counter if _on_cuda(device) else time.thread_time


def _on_cuda(device: str | None) -> bool:
    return device is not None and device.startswith("cuda")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help=f"a policy's folder, or {', '.join(PUBLISHED)} with random weights")
    parser.add_argument("--device", help="cpu (default), cuda, cuda:1")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    try:
        timing = measure(options.name, options.device, options.rounds)
    except (NoRoom, PolicyError) as error:
        print(error, file=sys.stderr)
        return 3
    print(json.dumps(asdict(timing)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
