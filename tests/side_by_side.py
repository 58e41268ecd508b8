"""Which of several processes runs which tests, when a run has some (`pytest -n 3`; see CONTRIBUTING.md).

Each process has servers, folders and databases of its own (`tests.settings`). A file is run by one process, and all
files that use the one running arena by the same, so that one arena and one browser are started.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

SHARED = "the arena that is shared"
SHARING = (
    "tests/browser/",
    "tests/clients/test_client_plays.py",
    "tests/fuzz/test_raw_websocket.py",
    "tests/security/test_data_is_private.py",
    "tests/system/test_one_turn_in_the_logs.py",
    "tests/system/test_ready.py",
    "tests/system/test_standalone.py",
    "tests/system/test_thirty_sentences.py",
)
"""What uses the fixture `arena_stack`."""
LONG = (SHARED, "tests/blind/", "tests/system/", "tests/fuzz/", "tests/arena/")
"""Where the long files are: begun early, none of them is what the others wait for at the end."""


class Files(LoadScopeScheduling):
    """Hands whole files to whichever process is free: those of the shared arena first, then where the long ones are."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return SHARED if file.startswith(SHARING) else file

    def _assign_work_unit(self, node: Any) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=_place), last=False)
        super()._assign_work_unit(node)


def _place(scope: str) -> int:
    """Smallest first."""
    return next((place for place, folder in enumerate(LONG) if scope.startswith(folder)), len(LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Files:
    return Files(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two tests of one name would be one for several processes, which run it once."""
    twice = [name for name, times in Counter(item.nodeid for item in items).items() if times > 1]
    if twice:
        raise pytest.UsageError(f"several tests share a name: {', '.join(twice)}")
