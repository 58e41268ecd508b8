"""Votes out of the arena and in again: CSV and Parquet give the same figures, and name nobody."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from csv import reader
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from django.core.management import CommandError, call_command

from arena.models import Feedback, Vote
from rankings.files import vote_file
from rankings.files.vote_file import VoteFileError, read_votes
from rankings.models import Snapshot
from rankings.publication import aggregation
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable
from rankings.votes import ledger
from tests.factories import SessionFactory
from tests.rankings.ballots import ballots, cast
from tests.rankings.careful_votes import read_carefully

SOME = ballots(
    ("a", "b", "left_better", 26, "anna"),
    ("b", "a", "tie", 5, "bert"),
    ("c", "a", "both_bad", 3),
    ("b", "c", "left_better", 9, "anna"),
)
HEADER = "battle_id,voter_id,robot,left,right,vote"


def rate(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("rate", str(path), "--json", *options, stdout=out)
    return dict(json.loads(out.getvalue()))


@pytest.mark.django_db
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_exported_votes_give_the_figures_of_the_published_boards_and_name_nobody(
    tmp_path: Path, ending: str
) -> None:
    votes = cast(SOME)
    cast(SOME[:12], SessionFactory(setting="franka"), start=90_000)
    aggregation.aggregate()
    ledger.exclude_votes([votes[0].pk])
    aggregation.aggregate()
    path = tmp_path / f"votes.{ending}"
    call_command("export_votes", str(path), stdout=StringIO())
    for voter in (b"anna", b"bert", votes[1].battle_id.encode(), votes[1].vote_id.encode()):
        assert voter not in path.read_bytes()
    found, published = rate(path, "--by", "robot"), Snapshot.objects.all()[0].boards
    assert {name: found[name] for name in ("models", "components", "side_advantage")}.items() <= published[
        "global"
    ].items()
    assert found["boards"]["franka"].items() <= published["robot=franka"].items()
    assert found["models"]["a"]["votes"] == 34 + 12 - 1


@pytest.mark.django_db
def test_an_export_is_the_same_bytes_whatever_the_order_in_which_votes_came(tmp_path: Path) -> None:
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    ledger.count_votes(cast(SOME))
    call_command("export_votes", str(files[0]), stdout=StringIO())
    ledger.forget_counts()
    ledger.count_votes(reversed(list(Vote.objects.all())))
    call_command("export_votes", str(files[1]), stdout=StringIO())
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.django_db
def test_an_export_tells_why_where_voters_said_so_and_none_of_their_own_words(tmp_path: Path) -> None:
    cast(SOME)
    judged = Vote.objects.filter(user_id="bert").first()
    assert judged is not None
    Feedback.objects.create(battle=judged.battle, why="so it seems to bert", left_progress=80)
    Vote.objects.filter(user_id="bert").update(reasons={"closer": "left", "smoother": "equal", "faster": "right"})
    aggregation.aggregate()
    call_command("export_votes", str(tmp_path / "votes.csv"), stdout=StringIO())
    with (tmp_path / "votes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(reader(file))
    assert rows[0][-6:] == ["closer", "smoother", "safer", "faster", "left_progress", "right_progress"]
    assert Counter(tuple(row[-6:-2]) for row in rows[1:]) == {("",) * 4: 38, ("left", "equal", "", "right"): 5}
    assert Counter(tuple(row[-2:]) for row in rows[1:]) == {("", ""): 42, ("80", ""): 1}
    assert "seems" not in (tmp_path / "votes.csv").read_text(encoding="utf-8")


@pytest.mark.django_db
def test_without_votes_the_file_has_its_columns_and_rates_nobody(tmp_path: Path) -> None:
    for name in ("votes.csv", "votes.parquet"):
        call_command("export_votes", str(tmp_path / name), stdout=StringIO())
        assert rate(tmp_path / name)["models"] == {}


@pytest.mark.django_db
def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"expected \.csv or \.parquet"):
        call_command("export_votes", str(tmp_path / "votes.xls"))


def csv(tmp_path: Path, *lines: str, header: str = HEADER) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_blanks_around_names_and_empty_lines_change_nothing(tmp_path: Path) -> None:
    lines = [f"{n},v{n % 3},widowx,a,{'bc'[n % 2]},{('tie', 'left_better')[n % 2]}" for n in range(20)]
    plain = rate(csv(tmp_path, *lines))
    spread = rate(csv(tmp_path, *[line.replace(",a,", ",  a ,") for line in lines[:-1]], lines[-1], ""))
    assert plain == spread


@pytest.mark.parametrize(
    "lines",
    [
        ["1,v,w,a,b,tie", " 2 ,v,w,a,b,tie"],
        ["1,v,w,a,b,tie", "2\u2003,v,w,a,b,tie"],
        ["1,v,w,a,b,tie", "2,v,w,a,b,tie,", "3,v,w,a,b"],
        ['1,v,w,"a",b,tie'],
        ["1,v,w,a,b,tie", "1,v,w,a,b,tie"],
        ["a-battle-of-a-long-name-1,v,w,a,b,tie", "a-battle-of-a-long-name-1,v,w,a,b,tie"],
        ["1,v,w,a,b,tie", "NaN,v,w,a,b,tie"],
        ["1,v,w,a,b,tie", ",v,w,a,b,tie"],
        ["1,v,w,a,b," + "tie" * (vote_file.BLOCK // 2)],
    ],
)
def test_what_is_not_plain_is_read_or_refused_as_line_by_line(tmp_path: Path, lines: list[str]) -> None:
    path = csv(tmp_path, *lines)
    assert seen_or_told(read_votes, path) == seen_or_told(read_carefully, path)


def seen_or_told(reader: Callable[[Path], VoteTable], path: Path) -> object:
    """What is in a table, or what the refusal says."""
    try:
        return content(reader(path))
    except VoteFileError as refusal:
        return str(refusal)


def content(table: VoteTable) -> object:
    trust = None if table.trust is None else table.trust.tolist()
    return table.values, {key: table.codes[key].tolist() for key in KEYS}, table.outcomes.tolist(), trust


def test_quotes_and_other_encodings_are_seen_in_columns_that_are_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    for note, message in ((b'"', "line 2: unexpected end of data"), (b"\xff", "byte 60 is not UTF-8")):
        path.write_bytes(f"{HEADER},note\n".encode() + b"1,v,w,a,b,tie,%b\n" % note)
        with pytest.raises(VoteFileError, match=message):
            read_votes(path)


@pytest.mark.parametrize(
    "lines",
    [
        ["1,v,w,a,b,tie", "", "2,v,w,a,b,tie"],
        ["1,v\u00a0,w,a,b,tie", "2,v, w ,a,b,tie"],
        ["1,v,w,a\0,b,tie"],
        ["1,v,w,a," + "b" * 1000 + ",tie"],
        ["eight-by,v,w,a,b,tie", "eight-bytes-and-more,v,w,a,b,tie", "nan.,v,w,a,b,tie", "名前,v,w,a,b,tie"],
        ["a-battle-of-a-long-name-1,v,w,a,b,tie", "a-battle-of-a-long-name-2,v,w,a,b,tie"],
    ],
)
def test_both_readers_see_the_same_in_files_of_unusual_but_clear_values(tmp_path: Path, lines: list[str]) -> None:
    path = csv(tmp_path, *lines)
    see_the_same(read_votes(path), read_carefully(path))


def see_the_same(quick: VoteTable, careful: VoteTable) -> None:
    assert content(quick) == content(careful)


def test_both_readers_see_the_same_across_blocks_in_any_alphabet_and_line_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vote_file, "BLOCK", 300)
    names = ["a", "bb", "policy-1", "policy-12", "äöü", "ein-ziemlich-langer-name", "名前"]
    lines = [
        f"{n},voter-{n * n % 37},w,{names[n % 7]},{names[(n + 1 + n % 5) % 7]},{OUTCOMES[n % 4]}" for n in range(400)
    ]
    path = tmp_path / "votes.csv"
    for end, last in (("\n", ""), ("\n", "\n"), ("\r\n", "\r\n")):
        path.write_bytes((end.join([HEADER, *lines]) + last).encode())
        see_the_same(read_votes(path), read_carefully(path))


def test_votes_of_several_days_are_capped_day_by_day(tmp_path: Path) -> None:
    days = [f"{n},fan,widowx,a,b,left_better,2026-01-{1 + n // 15:02}" for n in range(45)]
    many = rate(csv(tmp_path, *days, header=HEADER + ",day"))
    one = rate(csv(tmp_path, *[line.rsplit(",", 1)[0] for line in days]))
    assert many["models"]["a"]["rating"] > one["models"]["a"]["rating"] + 50
    assert (
        one["models"]["a"]["rating"]
        == rate(csv(tmp_path, *[f"{n},fan,w,a,b,left_better" for n in range(15)]))["models"]["a"]["rating"]
    )


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("vote", "nan", "row 2: unknown vote 'nan'; expected one of left_better"),
        ("vote", None, "row 2: unknown vote ''; expected one of left_better"),
        ("left", None, "row 2: left is ''; expected a name"),
        ("right", "a", "row 2: 'a' against itself"),
        ("battle_id", "1", "row 2: battle '1' was voted on in row 1"),
    ],
)
def test_a_bad_row_of_a_parquet_file_is_named(tmp_path: Path, column: str, value: str | None, message: str) -> None:
    rows = [dict(zip(HEADER.split(","), f"{n},v,widowx,a,b,tie".split(","), strict=True)) for n in range(1, 4)]
    bad: list[dict[str, str | None]] = [{**row} for row in rows]
    bad[1][column] = value
    pyarrow.parquet.write_table(pa.Table.from_pylist(bad), tmp_path / "votes.parquet")
    with pytest.raises(VoteFileError) as refusal:
        read_votes(tmp_path / "votes.parquet")
    assert message in str(refusal.value)


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "votes.parquet").write_text("battle_id")
    with pytest.raises(VoteFileError, match="expected a Parquet file of votes"):
        read_votes(tmp_path / "votes.parquet")
