"""The supervisor runs as long as the arena, and needs no app of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from arena import kinds
from tests.stack import BASE_DIR
from vlaarena.supervisor import loader, plan

ASKED = """
import sys
sys.argv = ["manage.py", "up"]
from vlaarena.supervisor.watch import Supervisor
async def run(self, **what):
    told = [what["loader"], what["prepare"], *what["servers"], *what["parts"]([])]
    loaded = [name for name in sys.modules if name.split(".")[0] in {"rest_framework", "celery", "numpy", "channels"}]
    models = [name for name in sys.modules if name.endswith(".models") and not name.startswith("django.")]
    print([spec.name for spec in told], loaded, models)
Supervisor.run = run
import manage
manage.main()
"""


def test_it_loads_no_models_no_framework_and_no_numpy(tmp_path: Path) -> None:
    built = {"ARENA_STATIC": str(tmp_path), "ARENA_SCENES": str(tmp_path), "ARENA_KINDS": ""}
    places = {"ARENA_DATA": str(tmp_path / "data"), "ARENA_PORT": "0"}
    told = subprocess.run(
        [sys.executable, "-c", ASKED],
        cwd=BASE_DIR,
        env={"PATH": os.environ["PATH"], **built, **places},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    names = "['loader', 'prepare', 'valkey', 'mongo', 'language', 'worker', 'drawing', 'beat', 'web']"
    assert told.stdout.strip() == f"{names} [] []", told.stderr


def test_the_loader_tells_of_each_offered_kind_what_decides_the_parts() -> None:
    told = [SimpleNamespace(id=name, waits=waits) for name, waits in loader.offered()]
    assert [kind.id for kind in told] == [kind.id for kind in kinds.offered()]
    queues = {"queues": ["q"], "worker_processes": 1, "host": "127.0.0.1", "port": 1}
    assert plan.parts(told, **queues) == plan.parts(kinds.offered(), **queues)  # type: ignore[arg-type]


def test_the_names_of_the_plan_are_those_of_the_kinds() -> None:
    assert {plan.TEXT, plan.VOICE} <= {kind.id for kind in kinds.every()}
