"""The drawing worker: it knows every task that is sent to its queue, and is no worker that plays."""

from __future__ import annotations

import json
import subprocess
import sys

from arena.drawings import asking
from robots import remote_trials, scene_trials, task_trials
from tests.stack import BASE_DIR

LISTED = """
import json, sys
from vlaarena.drawing import app
app.loader.import_default_modules()
app.finalize()
plays = [name for name in ("arena.queue.worker", "torch") if name in sys.modules]
print(json.dumps({"tasks": sorted(app.tasks), "plays": plays}))
"""


def test_it_knows_what_is_sent_to_it_and_opens_no_policies() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=BASE_DIR, capture_output=True, text=True, timeout=120, check=True
    )
    found = json.loads(told.stdout)
    wanted = {asking.DRAW, asking.DRAW_BATTLE, task_trials.TRY, scene_trials.TRY, remote_trials.TRY}
    assert wanted <= set(found["tasks"])
    assert found["plays"] == []
