"""What several tests of voice need."""

from __future__ import annotations

import pytest

from voice.battles import evaluating


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The battles whose evaluation the queue was asked for."""
    found: list[str] = []
    monkeypatch.setattr(evaluating, "ask", found.append)
    return found
