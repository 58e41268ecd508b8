"""The core and the rankings know no kind: neither by an import nor by its app."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from arena import kinds

ROOT = Path(settings.BASE_DIR)
CORE = ("arena", "rankings")
CONTRACT = "The core and the rankings know kinds only through their registry BROKEN"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("room", CORE)
def test_no_module_of_the_core_imports_a_kind(room: str) -> None:
    apps = {type(kind).__module__.rpartition(".")[0] for kind in kinds.every()}
    assert {"robots", "texts", "tests.echo"} <= apps
    names = {(path.name, name) for path in (ROOT / room).rglob("*.py") for name in imported(path)}
    assert names
    assert not [found for found in names for app in apps if f"{found[1]}.".startswith(f"{app}.")]


ROOMS = (
    "vlaarena",
    "people",
    "robots",
    "texts",
    "community",
    "wormarena",
    "rankings",
    "policies",
    "simulation",
    "arena",
    "proportions",
)


@pytest.mark.slow
@pytest.mark.parametrize("room", CORE)
def test_make_check_would_say_so(room: str, tmp_path: Path) -> None:
    """The contract of pyproject.toml breaks on one import inside a function."""
    for name in ROOMS:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("weights", "assets", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / room / "stray.py").write_text("def stray() -> None:\n    from robots import kind\n")
    said = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"], cwd=tmp_path, capture_output=True, text=True
    )
    assert said.returncode == 1
    assert CONTRACT in " ".join(said.stdout.split())
