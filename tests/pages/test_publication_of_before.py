"""After an upgrade and until the next full hour, every page and call shows what the version before published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from rankings.models import Report, Snapshot
from rankings.publication import aggregation, published
from tests.rankings.ballots import ballots, cast

BEFORE = Path(settings.BASE_DIR, "tests/rankings/data/publication_before_components.json")
"""`Report.content` and `Snapshot.boards` of the votes below, as commit 6d42374 published them."""
PAGES = [
    "",
    "?sort=votes",
    "?robot_id=widowx",
    "/physics",
    "/pairs",
    "/checks",
    "/compare",
    "/compare?a=a&b=b",
    "/method",
]
CALLS = ["", "/report", "/stats", "/compare?a=a&b=b", "/compare?a=a&b=d"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/models",
        "/models/a",
        *(f"/leaderboard{page}" for page in PAGES),
        *(f"/api/leaderboard{call}" for call in CALLS),
    ],
)
def test_what_was_published_before_is_shown(path: str) -> None:
    cast(
        ballots(
            ("a", "b", "left_better", 26, "anna"),
            ("b", "a", "tie", 5, "bert"),
            ("c", "a", "both_bad", 3),
            ("b", "c", "left_better", 9, "carl"),
            ("d", "e", "left_better", 7, "dora"),
        )
    )
    aggregation.aggregate()
    before = json.loads(BEFORE.read_text(encoding="utf-8"))
    Report.objects.update(content=before["content"])
    Snapshot.objects.update(boards=before["boards"])
    published._kept.cache_clear()
    assert Client().get(path).status_code == 200
