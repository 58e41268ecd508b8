"""What a backup holds comes back whole into a new arena, and nothing else is ever accepted."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.stack import Arena
from tests.system.conftest import MakeArena

VOTE = """
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from tests.factories import VoteFactory, TurnFactory
from django.core.management import call_command
from policies.models import Policy
left, right = Policy.objects.filter(status="active")[:2]
for choice in ("left_better", "tie", "right_better"):
    turn = TurnFactory(completed=True, battle__left_model=left, battle__right_model=right)
    VoteFactory(battle=turn.battle, vote=choice)
moderators = Group.objects.create(name="moderators")
moderators.permissions.set(Permission.objects.filter(codename="change_vote"))
gone = ContentType.objects.create(app_label="arena", model="table_of_an_earlier_release")
moderators.permissions.add(Permission.objects.create(codename="view_it", name="Can view it", content_type=gone))
mo = User.objects.create_user("mo", password="kept as a hash")
mo.groups.add(moderators)
LogEntry.objects.create(user=mo, content_type=gone, object_id="1", object_repr="it", action_flag=CHANGE)
call_command("rebuild_rankings")
"""


REFUSED = """
import json
from django.core.management import CommandError, call_command
def told(call):
    try:
        call_command(*call)
    except CommandError as error:
        return str(error)
    raise AssertionError(call)
print(json.dumps([told(call) for call in {calls!r}]))
"""
MOMENTS = """
from django.core.management import call_command
from arena.models import Attempt
call_command("rebuild_rankings", check=True)
print(*(rollout.created_at.isoformat() for rollout in Attempt.objects.order_by("pk")))
"""


@pytest.fixture(scope="module")
def played(make_arena: MakeArena) -> Arena:
    """An arena, not running, with a turn that was really played, votes, boards and a moderator."""
    arena = make_arena()
    arena.manage("prepare")
    arena.manage("play", "pick up the red cube", "--left", "scripted-expert", "--right", "hold-still")
    arena.manage("shell", "--verbosity", "0", "-c", VOTE)
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


def refused(arena: Arena, *calls: tuple[str, Path]) -> list[str]:
    """What each of these commands says that fails."""
    named = [(command, str(file)) for command, file in calls]
    told = arena.manage("shell", "--verbosity", "0", "-c", REFUSED.format(calls=named))
    return list(json.loads(told.splitlines()[-1]))


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
    assert found["tables/admin.LogEntry.jsonl"][0] == 1
    verified = json.loads(copy.manage("verify", "--all", "--json"))
    assert (verified["checked"], verified["identical"], verified["different"]) == (2, 2, [])


def moments(arena: Arena) -> list[str]:
    """When each rollout was made, to the microsecond; the rankings are sound."""
    return arena.manage("shell", "--verbosity", "0", "-c", MOMENTS).splitlines()[-1].split()


def test_nothing_that_is_there_is_overwritten(played: Arena, saved: Path) -> None:
    in_use, exists = refused(played, ("restore", saved), ("backup", saved))
    assert "restore into a new one" in in_use
    assert "exists already" in exists


def test_a_file_that_is_damaged_or_no_backup_changes_nothing(empty: Arena, saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    damaged, truncated, text = (tmp_path / name for name in ("damaged.tar", "truncated.tar", "notes.txt"))
    damaged.write_bytes(content.replace(b'"left_better"', b'"both_worse_"'[:13], 1))
    truncated.write_bytes(content[: len(content) // 2])
    text.write_text("no backup")
    files = (damaged, truncated, text, tmp_path / "nothing.tar")
    told = refused(empty, *(("restore", file) for file in files))
    assert "is damaged: its SHA-256" in told[0]
    assert told[1]
    assert "notes.txt cannot be read" in told[2]
    assert "cannot be read" in told[3]
    counted = "from arena.models import Vote; print('votes', Vote.objects.count())"
    assert empty.manage("shell", "--verbosity", "0", "-c", counted).strip().endswith("votes 0")
