"""An arena in which games were played."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wormarena.files import game, put, with_results
from wormarena.ingestion.ledger import ingest


@pytest.fixture
def games(db: None, tmp_path: Path) -> Path:
    """The folder of five games: three of alpha against beta, one of gamma, one of alpha against itself."""
    files = put(
        tmp_path,
        game("g-1", started_at="2026-01-01T00:00:00"),
        with_results(game("g-2", "beta", "alpha", started_at="2026-01-02T00:00:00"), "tied", "tied"),
        game("g-3", started_at="2026-01-03T00:00:00"),
        game("g-4", "gamma/x y:free", "alpha", started_at="2026-01-04T00:00:00", game_type="arc-explainer"),
        game("g-5", "alpha", "alpha", started_at="2026-01-05T00:00:00"),
    )
    ingest(files)
    return tmp_path
