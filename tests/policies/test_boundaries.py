"""What policies may know: contracts, not worlds; and what merely describing them may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

SOURCES = sorted((settings.BASE_DIR / "policies").rglob("*.py"))


OF_THE_REGISTRY = {"arena.models", "arena.errors", "arena.audit", "arena.words", "arena.addresses"}
"""Rows of contestants, their moderation, how words are counted, and which servers may be asked."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_policies_see_nothing_but_the_simulations_contracts_and_the_registry_of_contestants(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    seen = {name for name in imported if name.partition(".")[0] in ("simulation", "arena", "rankings", "vlaarena")}
    assert seen <= {"simulation.contracts", *OF_THE_REGISTRY}


def test_describing_policies_loads_neither_torch_nor_mujoco() -> None:
    code = (
        "import sys; from policies import base, folder, registry, transforms;"
        "sys.exit(bool({'torch', 'mujoco'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=settings.BASE_DIR, check=True)
