"""`manage.py rate VOTES.csv`: ratings from a file, and what a bad file is told."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

HEADER = "battle_id,voter_id,robot,left,right,vote"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(*lines: str, header: str = HEADER) -> Path:
        path = tmp_path / "votes.csv"
        path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
        return path

    return to_file


def rate(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("rate", str(path), "--json", *options, stdout=out)
    return dict(json.loads(out.getvalue()))


def lines(left: str, right: str, vote: str, count: int, voter: str = "", robot: str = "widowx") -> list[str]:
    return [f"{left}-{right}-{vote}-{robot}-{n},{voter},{robot},{left},{right},{vote}" for n in range(count)]


THREE_TO_ONE = [*lines("a", "b", "left_better", 30), *lines("b", "a", "left_better", 10)]


def test_a_file_gives_the_promised_object(write: Write) -> None:
    found = rate(write(*THREE_TO_ONE, *lines("a", "b", "tie", 3), *lines("a", "b", "both_bad", 2)))
    assert set(found) == {"models", "components", "side_advantage"}
    row = found["models"]["a"]
    assert {name: row[name] for name in ("votes", "wins", "losses", "ties", "both_bad", "provisional")} == {
        "votes": 45,
        "wins": 30,
        "losses": 10,
        "ties": 3,
        "both_bad": 2,
        "provisional": False,
    }
    assert row["low"] < row["rating"] < row["high"]
    assert (row["rank_low"], row["rank_high"]) == (1, 1)
    assert found["components"] == [["a", "b"]]
    assert set(found["side_advantage"]) == {"elo", "low", "high"}


def test_without_a_prior_two_policies_have_the_closed_form(write: Write) -> None:
    found = rate(write(*THREE_TO_ONE), "--prior", "0")["models"]
    assert found["a"]["rating"] - found["b"]["rating"] == pytest.approx(400 * math.log10(3), abs=0.02)


def test_the_same_votes_in_another_order_give_the_same_bytes(write: Write) -> None:
    votes = [*THREE_TO_ONE, *lines("b", "c", "left_better", 7, "v1"), *lines("c", "a", "tie", 4, "v2")]
    out = []
    for seed in (1, 2):
        out.append(StringIO())
        call_command("rate", str(write(*random.Random(seed).sample(votes, len(votes)))), "--json", stdout=out[-1])
    assert out[0].getvalue() == out[1].getvalue()


def test_by_robot_adds_a_board_per_robot(write: Write) -> None:
    found = rate(write(*THREE_TO_ONE, *lines("b", "a", "left_better", 50, robot="franka")), "--by", "robot")
    assert list(found["boards"]) == ["franka", "widowx"]
    assert (
        found["boards"]["widowx"]["models"]["a"]["rating"] > 1500 > found["boards"]["franka"]["models"]["a"]["rating"]
    )
    assert found["models"]["a"]["votes"] == 90


def test_votes_of_one_voter_widen_the_interval_unless_they_are_taken_for_independent(write: Write) -> None:
    tastes = [*lines("a", "b", "left_better", 20, "fan"), *lines("b", "a", "left_better", 20, "critic")]
    path = write(*tastes, *lines("a", "b", "tie", 2, "third"))
    together, apart = rate(path)["models"]["a"], rate(path, "--cluster", "none")["models"]["a"]
    assert together["rating"] == apart["rating"]
    assert together["high"] - together["low"] > 2 * (apart["high"] - apart["low"])


def test_a_cap_limits_what_one_voter_weighs(write: Write) -> None:
    path = write(*THREE_TO_ONE, *lines("b", "a", "right_better", 300, "fan"))
    free, capped = (rate(path, "--cap", cap)["models"]["a"] for cap in ("0", "10"))
    assert rate(path, "--cap", "15")["models"]["a"] == rate(path)["models"]["a"] != free
    assert capped["rating"] < free["rating"] - 50
    assert capped["votes"] == 340


def test_a_file_without_votes_gives_no_ratings(write: Write) -> None:
    assert rate(write()) == {"models": {}, "components": [], "side_advantage": None}


def test_columns_may_come_in_any_order_beside_others_and_after_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("\ufeffvote,note,left,right,robot,voter_id,battle_id\r\ntie,x,a,b,widowx,,1\r\n", encoding="utf-8")
    assert rate(path)["models"]["a"]["ties"] == 1


def test_for_people_it_prints_a_table(write: Write) -> None:
    out = StringIO()
    call_command("rate", str(write(*THREE_TO_ONE, *lines("c", "d", "tie", 1))), stdout=out)
    text = out.getvalue()
    assert "40 votes  rank 1-1" in text
    assert "provisional" in text
    assert "2 groups never met" in text
    assert "left side:" in text


GOOD = "1,v,widowx,a,b,tie"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([GOOD, "2,v,widowx,a,b,won"], "line 3: unknown vote 'won'; expected one of left_better, right_better, tie"),
        ([GOOD, "2,v,widowx,a,b,nan"], "line 3: unknown vote 'nan'; expected one of"),
        ([GOOD, "2,v,widowx,a,b,"], "line 3: unknown vote ''; expected one of"),
        ([GOOD, "2,v,widowx,NaN,b,tie"], "line 3: left is 'NaN'; expected a name"),
        ([GOOD, "2,v,widowx,a,,tie"], "line 3: right is ''; expected a name"),
        ([GOOD, "2,v,nan,a,b,tie"], "line 3: robot is 'nan'; expected a name"),
        ([GOOD, ",v,widowx,a,b,tie"], "line 3: battle_id is ''; expected a name"),
        ([GOOD, "2,v,widowx,a,a,tie"], "line 3: 'a' against itself; expected two different policies"),
        (["2" + GOOD[1:], GOOD, "2" + GOOD[1:]], "line 4: battle '2' was voted on in line 2"),
        ([GOOD, " " + GOOD], "line 3: battle '1' was voted on in line 2"),
        ([GOOD, GOOD], "line 3: battle '1' was voted on in line 2; expected one vote per battle"),
        ([GOOD, "2,v,widowx,a,b"], "line 3: 5 values; expected 6, as in the first line"),
        ([GOOD, '2,v,widowx,"a,b,tie'], "expected comma-separated values"),
    ],
)
def test_a_bad_line_is_named_with_what_would_have_been_right(write: Write, rows: list[str], message: str) -> None:
    with pytest.raises(CommandError) as refusal:
        rate(write(*rows))
    assert message in str(refusal.value)


def test_a_missing_column_is_named(write: Write) -> None:
    with pytest.raises(CommandError, match=r"line 1: no column robot; expected battle_id, voter_id, robot, left"):
        rate(write(header="battle_id,voter_id,left,right,vote"))


def test_an_empty_file_is_told_which_columns_to_have(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(CommandError, match="line 1: nothing; expected the columns battle_id"):
        rate(tmp_path / "empty.csv")


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file"):
        rate(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"battle_id\xff\xfe")
    with pytest.raises(CommandError, match="byte 9 is not UTF-8"):
        rate(tmp_path / "binary.csv")


@pytest.mark.parametrize("options", [("--prior", "nan"), ("--prior", "-1"), ("--cap", "-1")])
def test_an_option_out_of_range_is_refused(write: Write, options: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match="from 0"):
        rate(write(GOOD), *options)


def test_the_exit_code_tells_a_program_that_the_file_was_refused(write: Write) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "rate", str(write("1,v,widowx,a,b,won")), "--json"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "line 2: unknown vote 'won'" in done.stderr


def test_the_command_line_gives_the_figures_of_the_command_without_starting_django(write: Write) -> None:
    path = write(GOOD, "2,w,widowx,b,a,tie")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "rate", str(path), "--json"],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == rate(path)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "rankings.files.vote_file" in imported
    assert not {"rankings.models", "django.conf", "celery", "pandas", "pyarrow.compute", "pyarrow.parquet"} & imported
