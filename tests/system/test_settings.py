"""Settings come from the environment, and nonsense in it is refused aloud."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack import BASE_DIR


def run_with(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
    own = {"DJANGO_SETTINGS_MODULE": "vlaarena.settings", "ARENA_DATA": str(folder), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=BASE_DIR, env={**clean, **own}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("server", ["asgi", "wsgi"])
def test_the_site_does_not_serve_with_the_key_that_everybody_can_read(tmp_path: Path, server: str) -> None:
    refused = run_with(tmp_path, f"import vlaarena.{server}")
    assert refused.returncode != 0
    assert "ARENA_SECRET_KEY" in refused.stderr
    assert run_with(tmp_path, f"import vlaarena.{server}", ARENA_SECRET_KEY="x" * 50).returncode == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARENA_DEBUG", "perhaps"),
        ("ARENA_ROLLOUT_WALL_S", "soon"),
        ("DATABASE_URL", "mysql://localhost/arena"),
        ("ARENA_KINDS", "text"),
        ("ARENA_KINDS", "robots,speech"),
    ],
)
def test_nonsense_is_refused_by_the_name_of_its_variable(tmp_path: Path, name: str, value: str) -> None:
    refused = run_with(tmp_path, "import vlaarena.settings", **{name: value})
    assert refused.returncode != 0
    assert name in refused.stderr
    assert "ImproperlyConfigured" in refused.stderr


def test_idle_websockets_stay_open_because_the_channel_layer_has_no_socket_timeout(tmp_path: Path) -> None:
    asked = "from vlaarena.settings import CHANNEL_LAYERS as c; print(c['default']['CONFIG']['hosts'][0])"
    assert "'socket_timeout': None" in run_with(tmp_path, asked).stdout


def test_what_is_acknowledged_is_on_the_disk(tmp_path: Path) -> None:
    asked = "import django; django.setup(); from django.db import connection as c; cursor = c.cursor(); "
    for name in ("journal_mode", "synchronous"):
        asked += f"cursor.execute('PRAGMA {name}'); print(cursor.fetchone()[0]); "
    assert run_with(tmp_path, asked).stdout.split() == ["wal", "2"]


def test_a_data_folder_of_somebody_else_is_refused_by_name(tmp_path: Path) -> None:
    refused = run_with(tmp_path, "import os; os.access = lambda *asked: False; import vlaarena.settings")
    assert refused.returncode != 0
    assert f"{tmp_path} belongs to another user" in refused.stderr
