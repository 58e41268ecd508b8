"""Loading needs no more memory than the weights and a tenth: the largest checkpoint must fit where it is to run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgpack
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.policies.tiny_networks import pack_array

# One tensor holds an eighth of all, as the text embedding of Octo does; it comes last, when the rest is in memory.
SHAPES = {f"part{index}": (1024, 1792) for index in range(8)} | {"embedding": (2048, 4096)}
# Every tensor in a mapping of its own. Otherwise some share a heap, whose holes, up to 12 MB here, vary by chance.
NO_HEAP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 16)}
SMALL = dict.fromkeys(SHAPES, (16, 16))
BYTES = 4 * sum(rows * columns for rows, columns in SHAPES.values())

# Virtual memory counts exactly what is allocated.
SCRIPT = """
import json, sys
from pathlib import Path
import torch
from torch import nn
from policies import checkpoints, flax_checkpoint

def size(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return int(line.split()[1]) * 1024

def loaded(path, shapes):
    def make():
        network = nn.Module()
        for name, shape in shapes.items():
            network.register_parameter(name, nn.Parameter(torch.zeros(shape)))
        return network
    network = checkpoints.build(make)
    before = size("VmSize")
    find = flax_checkpoint.read_header if path.name == "checkpoint" else checkpoints.read_safetensors_header
    checkpoints.load(network, find(path), *checkpoints.default_device())
    return network, size("VmPeak") - before

small, large = Path(sys.argv[1]) / "small", Path(sys.argv[1]) / "large"
loaded(next(small.iterdir()), json.loads(sys.argv[2]))  # what is needed once is no part of the measure
print(loaded(next(large.iterdir()), json.loads(sys.argv[3]))[1])
"""


def write(folder: Path, kind: str, shapes: dict[str, tuple[int, int]]) -> None:
    """A checkpoint of these shapes, alone in its folder."""
    folder.mkdir()
    values = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    if kind == "flax":
        packed = msgpack.packb({name: pack_array(value) for name, value in values.items()})
        (folder / "checkpoint").write_bytes(packed)
    else:
        save_file({name: torch.from_numpy(value) for name, value in values.items()}, folder / "model.safetensors")


@pytest.mark.parametrize("kind", ["safetensors", "flax"])
def test_the_peak_is_at_most_a_tenth_above_the_weights(tmp_path: Path, kind: str) -> None:
    write(tmp_path / "small", kind, SMALL)
    write(tmp_path / "large", kind, SHAPES)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), json.dumps(SMALL), json.dumps(SHAPES)]
    environment, root = os.environ | NO_HEAP, Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment)
    assert int(done.stdout) <= 1.1 * BYTES
    assert int(done.stdout) >= 0.9 * BYTES  # the measure works
