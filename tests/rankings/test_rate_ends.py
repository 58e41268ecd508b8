"""`manage.py rate` ends with its answer, whatever C++ libraries do with their threads when a process ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from django.conf import settings

VOTES = "battle_id,voter_id,robot,left,right,vote\nbattle-1,v,widowx,a,b,left_better\nbattle-2,v,widowx,b,a,tie\n"
ABORTS_AT_ITS_END = """
import ctypes, runpy, sys
libc = ctypes.CDLL(None)
assert libc.__cxa_atexit(ctypes.cast(libc.abort, ctypes.c_void_p), None, None) == 0
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""What pyarrow does once in a thousand runs: its pool is destroyed while one of its threads runs, which aborts."""


def rate(*arguments: str, code: str = ABORTS_AT_ITS_END) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, "manage.py", "rate", *arguments]
    return subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)


def test_the_answer_is_complete_and_the_end_is_not_an_abort(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    done = rate(str(path), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(json.loads(done.stdout)["models"]) == ["a", "b"]


def test_a_refusal_is_told_and_ends_with_one(tmp_path: Path) -> None:
    done = rate(str(tmp_path / "nothing.csv"))
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: ")
    assert done.stdout == ""


def test_the_trap_of_these_tests_catches_an_ordinary_end() -> None:
    assert rate("--help").returncode == -6
