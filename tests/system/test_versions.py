"""What computed an episode and what replays it are the same engine; what is installed is what is pinned."""

from __future__ import annotations

import json
import re
from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.stack import BASE_DIR

REQUIREMENTS = sorted((BASE_DIR / "requirements").glob("*.txt"))


def pins(name: str) -> dict[str, str]:
    lines = (BASE_DIR / "requirements" / name).read_text().splitlines()
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)(?: ; .+)?", line) for line in lines]
    assert all(found[i] for i, line in enumerate(lines) if line and not line.startswith("#")), (
        f"{name} has a loose line"
    )
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


def test_the_engine_in_python_and_in_the_browser_are_the_same_version() -> None:
    package = json.loads((BASE_DIR / "frontend" / "package.json").read_text())
    locked = json.loads((BASE_DIR / "frontend" / "package-lock.json").read_text())
    assert package["dependencies"]["@mujoco/mujoco"] == version("mujoco") == pins("base.txt")["mujoco"]
    assert locked["packages"]["node_modules/@mujoco/mujoco"]["version"] == version("mujoco")


def test_the_lock_file_names_no_registry() -> None:
    assert "resolved" not in (BASE_DIR / "frontend" / "package-lock.json").read_text()


@pytest.mark.parametrize("name", ["base.txt", "embedded.txt", "test.txt"])
def test_requirements_are_pinned_as_in_the_constraints(name: str) -> None:
    constraints = pins("constraints.txt")
    assert {package: constraints.get(package) for package in pins(name)} == pins(name)


def test_what_is_installed_is_what_is_pinned() -> None:
    different = {}
    for package, pinned in pins("constraints.txt").items():
        try:
            installed = version(package).partition("+")[0]
        except PackageNotFoundError:
            continue  # a part that this environment does not need, such as Node
        if installed != pinned:
            different[package] = (installed, pinned)
    assert different == {}
