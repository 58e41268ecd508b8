"""Says at the end of a run how many cases were tried."""

from __future__ import annotations

from typing import Any

from tests.fuzz.effort import tried


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if tried:
        told = ", ".join(f"{count} {subject}" for subject, count in sorted(tried.items()))
        terminalreporter.write_line(f"fuzz cases tried: {tried.total()} ({told})")
