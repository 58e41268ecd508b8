"""Says at the end of a run how many cases were tried, whichever of its processes tried them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fuzz.effort import tried


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):  # one of several processes: the first hears of it
        session.config.workeroutput["tried"] = dict(tried)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    tried.update(getattr(node, "workeroutput", {}).get("tried", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if tried:
        told = ", ".join(f"{count} {subject}" for subject, count in sorted(tried.items()))
        terminalreporter.write_line(f"fuzz cases tried: {tried.total()} ({told})")
