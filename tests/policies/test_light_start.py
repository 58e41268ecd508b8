"""Opening a policy brings no compiler along, nor a command's start a client of language models."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from torch import nn

from policies import checkpoints

WEIGHTS = Path(__file__).resolve().parents[2] / "policies" / "weights"
OPEN = """
import sys, django
django.setup()
from pathlib import Path
from policies.registry import open_policy
for folder in sys.argv[1:]:
    open_policy(Path(folder))
    print(folder, [name for name in ("torch._dynamo", "sympy") if name in sys.modules])
"""


def test_opening_a_shipped_policy_imports_no_compiler() -> None:
    folders = sorted(str(path.parent) for path in WEIGHTS.glob("*/policy.json"))
    assert {"film-base", "octo-mini", "openvla-mini"} <= {Path(each).name for each in folders}
    found = subprocess.run(
        [sys.executable, "-c", OPEN, *folders],
        env={"DJANGO_SETTINGS_MODULE": "vlaarena.settings", "PATH": "/usr/bin:/bin"},
        cwd=WEIGHTS.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == [f"{folder} []" for folder in folders]


OTHERS = ("openai", "torch", "rest_framework.views", "redis", "pymongo", "psycopg", "pyarrow", "vlaarena.careful_admin")


def test_a_command_starts_without_what_only_pages_turns_and_votes_need() -> None:
    start = f"import sys, django; django.setup(); print([name for name in {OTHERS} if name in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", start],
        env={"DJANGO_SETTINGS_MODULE": "vlaarena.settings", "PATH": "/usr/bin:/bin"},
        cwd=WEIGHTS.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "[]\n"


def test_a_network_is_built_without_memory_and_keeps_the_shapes_of_its_weights() -> None:
    network = checkpoints.build(lambda: nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 3), nn.LayerNorm(3)))
    assert all(tensor.is_meta for tensor in network.state_dict().values())
    assert network[0].weight.shape == (7, 5)
    assert torch.get_default_device().type != "meta"
