"""Every command that the README names works after `make install`, before any start: it prepares what it needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from vlaarena import standalone

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "kettle-orbit-violin-93"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command on a data folder that does not exist yet, with the embedded default."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment |= {"ARENA_DATA": str(folder), "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_policies_lists_the_shipped_ones_as_clean_json(tmp_path: Path) -> None:
    done = run(tmp_path / "new", "policies", "--json")
    assert done.returncode == 0, done.stderr
    assert "film-base" in {policy["model_id"] for policy in json.loads(done.stdout)["policies"]}
    assert "preparing a new database" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["rebuild_rankings", "--check"],
        ["createsuperuser", "--noinput", "--username", "ada", "--email", "ada@example.org"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_command_works_before_any_start(tmp_path: Path, arguments: list[str]) -> None:
    done = run(tmp_path / "new", *arguments)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0


def test_help_prepares_nothing(tmp_path: Path) -> None:
    assert run(tmp_path / "new", "policies", "--help").returncode == 0
    assert not (tmp_path / "new").exists()


def test_a_database_that_cannot_be_prepared_is_a_plain_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = run(tmp_path / "file" / "new", "policies")
    assert done.returncode != 0
    assert "CommandError" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_of_the_readme_is_prepared_for() -> None:
    named = set(re.findall(r"manage\.py (\w+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    without_database = {"demos", "evaluate", "train"}
    assert named <= standalone.WANT_DATABASE | standalone.WANT_EPISODES | without_database
