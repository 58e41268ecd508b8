"""Files of votes, CSV and Parquet: the reader in columns and one in plain Python agree, or both refuse in words."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import strategies as st

from rankings.files import vote_file
from rankings.files.vote_file import COLUMNS, VoteFileError, read_votes
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable
from tests.fuzz.damage import damaged_bytes
from tests.fuzz.effort import fuzz
from tests.rankings.careful_votes import read_carefully

ODD = [
    "",
    " ",
    "a",
    "b ",
    "\u00a0c",
    "d\u2003",
    "é",
    "b1",
    "B1",
    "nan",
    "NULL",
    "n/a",
    "tie",
    "left_better",
    "both_bad",
    '"',
    '""',
    '"a"',
    'a"b',
    '"a,b"',
    '"a""b"',
    '"a\nb"',
    '"a" b',
    "\x00",
    "\x1f",
    "\t",
    "\x0b",
    "x" * 127,
    "x" * 128,
    "x" * 129,
    "y" * 9,
    "y" * 8,
    "\ufeff",
    "\u0130",
    "\U0001f916",
    "0",
    "-1",
    "1e9",
    "=1+1",
    "\x85",
    "\u2028",
    "\r",
]
HEADERS = [
    ",".join(COLUMNS),
    ",".join((*COLUMNS, "day")),
    "\ufeff" + ",".join(COLUMNS),
    ", ".join(COLUMNS),
    ",".join(reversed(COLUMNS)),
    ",".join((*COLUMNS, "note")),
    ",".join((*COLUMNS, '"x')),
    ",".join((*COLUMNS, "tie")),
    ",".join(COLUMNS[1:]),
    "",
    ",".join((*COLUMNS, "vote")),
    '"battle_id",' + ",".join(COLUMNS[1:]),
    ",".join((*COLUMNS, "scene", "task")) + ",",
]
good_rows = st.lists(
    st.builds(
        "b{},v{},{},{},{},{}".format,
        st.integers(0, 10**9),
        st.integers(0, 3),
        st.sampled_from(["widowx", "arm"]),
        st.sampled_from("ac"),
        st.sampled_from("bd"),
        st.sampled_from(OUTCOMES),
    ),
    min_size=1,
    max_size=12,
)
cell = st.one_of(st.sampled_from(ODD), st.text(max_size=6))


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """Mostly good lines, some with another cell, a cell more or less, another ending."""
    lines = [draw(st.sampled_from(HEADERS[:2] * 4 + HEADERS)), *draw(good_rows)]
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(lines) - 1))
        cells = lines[place].split(",")
        what = draw(st.sampled_from(["replace", "replace", "add", "leave out", "again", "blank"]))
        if what == "replace":
            cells[draw(st.integers(0, len(cells) - 1))] = draw(cell)
        elif what == "add":
            cells.append(draw(cell))
        elif what == "leave out":
            cells.pop()
        elif what == "again":
            lines.append(lines[place])
        else:
            cells = [draw(st.sampled_from(["", " ", '""']))]
        lines[place] = ",".join(cells)
    ends = draw(st.sampled_from(["\n", "\r\n", "\n\n", "\r", "\r\r\n"]))
    text = ends.join(lines) + draw(st.sampled_from(["", ends, ends * 2, "\x1a"]))
    return text.encode("utf-8", "replace")


Answer = VoteTable | None


def asked(reader: Callable[[Path], VoteTable], path: Path, refusal: type[Exception]) -> Answer:
    try:
        return reader(path)
    except refusal:
        return None


def same(one: VoteTable, other: VoteTable) -> bool:
    return (
        {key: tuple(one.values[key]) for key in KEYS} == {key: tuple(other.values[key]) for key in KEYS}
        and all(np.array_equal(one.codes[key], other.codes[key]) for key in KEYS)
        and np.array_equal(one.outcomes, other.outcomes)
    )


def check_that_both_agree(path: Path) -> None:
    answer, careful = asked(read_votes, path, VoteFileError), asked(read_carefully, path, VoteFileError)
    assert (answer is None) == (careful is None), "one takes what the other refuses"
    if answer is not None and careful is not None:
        assert same(answer, careful)
        left, right = (np.array(answer.values[side])[answer.codes[side]] for side in ("left", "right"))
        assert not (left == right).any()


@pytest.fixture(params=[97, vote_file.BLOCK], ids=["small blocks", "whole blocks"])
def _blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that lines cross their borders."""
    monkeypatch.setattr(vote_file, "BLOCK", request.param)


@pytest.mark.usefixtures("_blocks")
@fuzz("vote files", 133, content=st.one_of(csv_files(), csv_files().flatmap(damaged_bytes)))
def test_both_readers_of_csv_agree_on_every_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    check_that_both_agree(path)


PLAIN = {name: ["1", "2", "3"] for name in COLUMNS} | {"left": ["a"] * 3, "right": ["b"] * 3, "vote": ["tie"] * 3}
TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("ns"),
    pa.dictionary(pa.int32(), pa.string()),
    pa.list_(pa.string()),
    pa.null(),
]
parquet_cell = st.one_of(
    st.none(), st.sampled_from(ODD), st.text(max_size=5), st.sampled_from(["a", "b", "tie", "1", "2"])
)


@st.composite
def parquet_files(draw: st.DrawFn) -> bytes:
    """Mostly good columns; some of another type, with other values, under another name."""
    columns: dict[str, Any] = {name: pa.array(values) for name, values in PLAIN.items()}
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(sorted(columns)))
        if draw(st.booleans()):
            columns[name] = pa.array(_encodable(draw(st.lists(parquet_cell, min_size=3, max_size=3))), pa.string())
        else:
            columns[name] = _cast(columns[name], draw(st.sampled_from(TYPES)))
    names: list[str] = list(columns)
    if draw(st.integers(0, 5)) == 0:
        names[draw(st.integers(0, len(names) - 1))] = draw(st.sampled_from(["left", "left ", "", "day", "robot.x"]))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(list(columns.values()), names=names), out)
    return out.getvalue()


def _encodable(values: Sequence[str | None]) -> list[str | None]:
    return [None if value is None else value.encode("utf-8", "replace").decode() for value in values]


def _cast(column: Any, kind: Any) -> Any:
    try:
        return column.cast(kind)
    except pa.ArrowException:
        return pa.nulls(len(column), kind)


@fuzz("vote files", 83, content=st.one_of(parquet_files(), parquet_files().flatmap(damaged_bytes)))
def test_both_readers_of_parquet_agree_on_every_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "votes.parquet"
    path.write_bytes(content)
    check_that_both_agree(path)


@pytest.mark.parametrize("name", ["battle_id", "left", "vote"])
def test_a_column_of_bytes_is_refused_in_words(tmp_path: Path, name: str) -> None:
    """Python would write b'a' for it, which is another policy."""
    columns = {each: pa.array(values, pa.binary() if each == name else pa.string()) for each, values in PLAIN.items()}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "votes.parquet")
    with pytest.raises(VoteFileError, match=f"column {name} holds bytes; expected text"):
        read_votes(tmp_path / "votes.parquet")
