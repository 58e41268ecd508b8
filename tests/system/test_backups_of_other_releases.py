"""Backups of other releases: what this one cannot restore is refused before anything changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connections

from arena.models import Session
from arena.store import get_store
from tests.old_arena import OldArena, old_arena
from vlaarena import backup
from vlaarena.backup import BackupError

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_episodes() -> None:
    get_store().delete(list(get_store().ids()))


def refused(arena: OldArena, folder: Path) -> str:
    """Why it is refused; nothing of it is kept."""
    usual = connections["default"]
    with pytest.raises(BackupError) as told:
        backup.restore(arena.file(folder))
    assert connections["default"] is usual
    assert not Session.objects.exists()
    assert get_store().count() == 0
    return str(told.value)


def test_a_backup_of_a_later_release_says_what_it_needs(tmp_path: Path) -> None:
    told = refused(old_arena().with_migration("arena", "0999_of_tomorrow"), tmp_path)
    assert "a later release made it" in told
    assert "arena.0999_of_tomorrow" in told


def test_rows_that_fit_no_table_of_their_release_are_refused(tmp_path: Path) -> None:
    row = {"model": "arena.networkkey", "pk": 1, "fields": {"secret": "that release knew no such table"}}
    told = refused(old_arena().with_member("tables/arena.Session.jsonl", json.dumps(row).encode()), tmp_path)
    assert "do not fit" in told
    assert "arena.networkkey" in told
