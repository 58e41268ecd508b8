"""What a backup holds comes back whole into a new arena, and nothing else is ever accepted."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.stack import BASE_DIR, Arena
from tests.system.conftest import MakeArena

VOTE = """
from django.contrib.auth.models import Group, Permission, User
from tests.factories import VoteFactory, TurnFactory
from policies.models import Policy
left, right = Policy.objects.filter(status="active")[:2]
for choice in ("left_better", "tie", "right_better"):
    turn = TurnFactory(completed=True, battle__left_model=left, battle__right_model=right)
    VoteFactory(battle=turn.battle, vote=choice)
moderators = Group.objects.create(name="moderators")
moderators.permissions.set(Permission.objects.filter(codename="change_vote"))
User.objects.create_user("mo", password="kept as a hash").groups.add(moderators)
"""


@pytest.fixture(scope="module")
def played(make_arena: MakeArena) -> Arena:
    """An arena, not running, with a turn that was really played, votes, boards and a moderator."""
    arena = make_arena()
    arena.manage("prepare")
    arena.manage("play", "pick up the red cube", "--left", "scripted-expert", "--right", "hold-still")
    arena.manage("shell", "--verbosity", "0", "-c", VOTE)
    arena.manage("rebuild_rankings")
    return arena


@pytest.fixture(scope="module")
def saved(played: Arena, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("saved") / "arena.tar"
    played.manage("backup", str(file))
    return file


@pytest.fixture(scope="module")
def empty(make_arena: MakeArena) -> Arena:
    """A new arena, for backups that it refuses."""
    arena = make_arena()
    arena.manage("prepare")
    return arena


def contents(file: Path) -> dict[str, Any]:
    with tarfile.open(file) as archive:
        stream = archive.extractfile("manifest.json")
        assert stream is not None
        return dict(json.loads(stream.read())["files"])


def refused(arena: Arena, *arguments: str) -> str:
    """What a command says that fails."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR,
        env=arena.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode != 0
    return done.stderr


def moments(arena: Arena) -> list[str]:
    """When each rollout was made, to the microsecond."""
    asked = (
        "from arena.models import Rollout; print(*(r.created_at.isoformat() for r in Rollout.objects.order_by('pk')))"
    )
    return arena.manage("shell", "--verbosity", "0", "-c", asked).split()


def test_a_new_arena_becomes_the_same_row_for_row_and_episode_for_episode(
    make_arena: MakeArena, played: Arena, saved: Path, tmp_path: Path
) -> None:
    copy = make_arena()
    copy.manage("prepare")
    copy.manage("restore", str(saved))
    assert moments(copy) == moments(played)
    again = tmp_path / "again.tar"
    copy.manage("backup", str(again))
    found = contents(saved)
    assert contents(again) == found
    assert found["episodes.bson"][0] == 2
    assert found["tables/arena.Vote.jsonl"][0] == 3
    assert found["tables/auth.User.jsonl"][0] == 1
    verified = json.loads(copy.manage("verify", "--all", "--json"))
    assert (verified["checked"], verified["identical"], verified["different"]) == (2, 2, [])
    copy.manage("rebuild_rankings", "--check")


def test_an_arena_in_use_is_not_overwritten(played: Arena, saved: Path) -> None:
    assert "restore into a new one" in refused(played, "restore", str(saved))


def test_a_file_that_exists_is_not_overwritten(played: Arena, saved: Path) -> None:
    assert "exists already" in refused(played, "backup", str(saved))


def test_a_damaged_backup_changes_nothing(empty: Arena, saved: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.tar"
    content = saved.read_bytes()
    damaged.write_bytes(content.replace(b'"left_better"', b'"both_worse_"'[:13], 1))
    assert "is damaged: its SHA-256" in refused(empty, "restore", str(damaged))
    truncated = tmp_path / "truncated.tar"
    truncated.write_bytes(content[: len(content) // 2])
    assert refused(empty, "restore", str(truncated))
    counted = "from arena.models import Vote; print('votes', Vote.objects.count())"
    assert empty.manage("shell", "--verbosity", "0", "-c", counted).strip().endswith("votes 0")


def test_a_file_of_another_kind_is_named(empty: Arena, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no backup")
    assert "notes.txt cannot be read" in refused(empty, "restore", str(text))
    assert "cannot be read" in refused(empty, "restore", str(tmp_path / "nothing.tar"))
