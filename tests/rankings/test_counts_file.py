"""The counts as a file: the same bytes as Python's own CSV, sorted, with voters numbered anew, piece by piece."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io

import numpy as np
import pytest

from rankings.files import counts_file
from rankings.files.counts_file import COLUMNS, sorting, write_counts
from rankings.tally.table import VoteTable

ROWS: list[tuple[str | int, ...]] = [
    ("widowx", "table", "stack", "b", "a", f"voter-{number:03}", "2026-01-02", "", number % 3, 1, 0, 0)
    for number in range(30)
] + [
    ("widowx", "table", "", "a", "b", "", "2026-01-01", "", 0, 0, 2, 0),
    ("franka", "table", "", "a", "b", "voter-003", "2026-01-01", "", 0, 0, 0, 5),
    ("franka", "table", "", "a", "c", "voter-003", "2026-01-01", "", 0, 0, 0, 0),
]


def expected(rows: list[tuple[str | int, ...]]) -> bytes:
    known = sorted({str(row[5]) for row in rows} - {""})
    number = {voter: f"v{place}" for place, voter in enumerate(known, start=1)} | {"": ""}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(sorted((*row[:5], number[str(row[5])], *row[6:8], "1", *row[8:]) for row in rows if any(row[8:])))
    return out.getvalue().encode()


@pytest.mark.parametrize("policy", ["b", "b, the second", 'the "best"', "zwei\nZeilen", "名前"])
@pytest.mark.parametrize("chunk", [7, 50_000])
def test_the_file_is_sorted_csv_of_all_rows_with_a_count(
    policy: str, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_file, "CHUNK", chunk)
    rows = [tuple(policy if value == "b" else value for value in row) for row in ROWS]
    found = write_counts(VoteTable.of(reversed(rows)))  # type: ignore[arg-type]
    assert gzip.decompress(found.content) == expected(rows)
    assert found.input_hash == hashlib.sha256(expected(rows)).hexdigest()


def test_equal_counts_give_equal_files_whatever_their_order() -> None:
    assert write_counts(VoteTable.of(ROWS)) == write_counts(VoteTable.of(reversed(ROWS)))  # type: ignore[arg-type]


def test_without_a_count_there_is_the_first_line_alone() -> None:
    assert gzip.decompress(write_counts(VoteTable.of([])).content) == expected([])


@pytest.mark.parametrize("largest", [5, 2**40])
def test_columns_too_wide_for_one_number_are_sorted_as_well(largest: int) -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, largest, 200) for _ in range(3)]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [rows[place] for place in sorting(columns).tolist()] == sorted(rows)


def test_rows_with_equal_keys_are_sorted_by_their_counts() -> None:
    rng = np.random.default_rng(1)
    keys, several = [rng.integers(0, 3, 200) for _ in range(2)], rng.integers(0, 2, (4, 200))
    rows = list(zip(*(column.tolist() for column in (*keys, *several)), strict=True))
    assert [rows[place] for place in sorting(keys, several).tolist()] == sorted(rows)
    assert len(sorting([keys[0][:0]], several[:, :0])) == 0
