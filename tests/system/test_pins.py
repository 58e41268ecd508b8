"""Every package is installed by the hash of its file, and the lists with hashes are those of the pins."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.stack import BASE_DIR

REQUIREMENTS = BASE_DIR / "requirements"
SETS = ("base", "embedded", "test", "node", "text", "voice", "peers")
# Stands in for Python: fetches a file "PyTorch", writes down what is installed, and has no version of it yet.
STAND_IN = """#!/bin/bash
echo "$@" >> "$0.asked"
case "$*" in
  *" download "*) while [ "$1" != --dest ]; do shift; done; echo PyTorch > "$2/torch-2.13.0+cpu-cp312-none-any.whl" ;;
  *" install "*) ;;
  *) exit 1 ;;
esac
"""


def pins(text: str) -> dict[str, str]:
    """Package -> version, of requirements with or without hashes and markers."""
    found = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==([^\s;]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def locked(name: str) -> str:
    return (REQUIREMENTS / "locked" / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", [*SETS, "torch", "cuda"])
def test_every_package_that_is_installed_has_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", locked(name), flags=re.MULTILINE).strip())
    assert len(entries) == len(pins(locked(name)))
    for entry in entries:
        assert re.search(r"\\\n    --hash=sha256:[0-9a-f]{64}(\s|$)", entry), entry


def test_the_lists_have_the_versions_of_the_pins_and_each_package_once() -> None:
    names = [name for part in (*SETS, "torch") for name in pins(locked(part))]
    assert len(names) == len(set(names))
    all_locked = {name: version for part in (*SETS, "torch") for name, version in pins(locked(part)).items()}
    constraints = pins((REQUIREMENTS / "constraints.txt").read_text())
    assert all_locked.items() <= constraints.items()
    for part in ("base", "embedded", "test", "text", "voice", "peers"):
        assert pins((REQUIREMENTS / f"{part}.txt").read_text()).items() <= all_locked.items()


def test_nothing_is_installed_but_by_hash() -> None:
    files = [BASE_DIR / "Makefile", BASE_DIR / "Dockerfile", BASE_DIR / "scripts" / "with_node.sh"]
    for line in (line for file in files for line in file.read_text().splitlines()):
        if re.search(r"\bpip\b.* install\b", line):
            assert "--require-hashes --no-deps" in line, line


def install_torch(folder: Path, **environment: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run the script; answers what it said, and what pip was asked for."""
    python = folder / "python"
    python.write_text(STAND_IN)
    python.chmod(0o700)
    command = [str(BASE_DIR / "scripts" / "install_torch.sh")]
    own = {"PATH": "/usr/bin:/bin", "PYTHON": str(python), **environment}
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    return done, (folder / "python.asked").read_text()


def test_a_file_of_pytorch_that_nobody_knows_is_told_and_can_be_refused(tmp_path: Path) -> None:
    found = hashlib.sha256(b"PyTorch\n").hexdigest()
    done, asked = install_torch(tmp_path)
    assert (done.returncode, " install " in asked) == (0, True)
    assert f"TORCH_SHA256={found}" in done.stderr
    done, asked = install_torch(tmp_path, TORCH_SHA256=found)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "python.asked").unlink()
    done, asked = install_torch(tmp_path, TORCH_SHA256="0" * 64)
    assert (done.returncode, " install " in asked) == (1, False)
    assert found in done.stderr
