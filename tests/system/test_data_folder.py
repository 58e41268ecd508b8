"""The data folder has one owner at a time, whatever an earlier one left in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from vlaarena.supervisor.folder import DataFolder, FolderBusy, Running


def test_two_owners_at_once_are_refused_by_name(tmp_path: Path) -> None:
    first = DataFolder(tmp_path)
    with first.locked():
        first.announce(Running(pid=4711, url="http://127.0.0.1:8000/"))
        with pytest.raises(FolderBusy, match=r"process 4711, http://127\.0\.0\.1:8000/"), DataFolder(tmp_path).locked():
            pass
    with DataFolder(tmp_path).locked():
        pass


def test_a_stale_note_of_a_dead_owner_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "running.json").write_text(json.dumps({"pid": 1, "urls": {"MONGO_URL": "mongodb://127.0.0.1:1"}}))
    assert DataFolder(tmp_path).running() is None


def test_what_the_owner_announces_is_found_by_others(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with folder.locked():
        folder.announce(Running(pid=os.getpid(), urls={"MONGO_URL": "mongodb://127.0.0.1:5"}))
        found = DataFolder(tmp_path).running()
        assert found is not None
        assert found.urls == {"MONGO_URL": "mongodb://127.0.0.1:5"}
    assert DataFolder(tmp_path).running() is None


def test_orphans_of_this_folder_are_ended_and_those_of_others_are_left_alone(tmp_path: Path) -> None:
    mine, theirs = DataFolder(tmp_path / "mine"), DataFolder(tmp_path / "theirs")
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    orphan = subprocess.Popen(sleep, env=mine.marked(os.environ))
    other = subprocess.Popen(sleep, env=theirs.marked(os.environ))
    try:
        assert mine.end_orphans() == [orphan.pid]
        assert not psutil.pid_exists(orphan.pid)
        assert other.poll() is None
    finally:
        for process in (orphan, other):
            process.kill()
            process.wait()


def test_the_log_of_the_last_start_is_kept_beside_the_new_one(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.fresh_log("web").write_text("yesterday")
    today = folder.fresh_log("web")
    assert not today.exists()
    assert today.with_suffix(".log.1").read_text() == "yesterday"


def test_the_secret_key_survives_a_second_start(tmp_path: Path) -> None:
    assert DataFolder(tmp_path).secret_key() == DataFolder(tmp_path).secret_key()
