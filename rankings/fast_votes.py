"""Votes of a CSV or Parquet file, read in columns: a million in a fraction of a second. No Django.

This reader takes only files in which nothing is wrong. It never says what is: where it gives up, `rankings.vote_file`
reads a CSV line by line, and names the line.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from rankings.counts import OUTCOMES, Integers
from rankings.table import KEYS, Table

REQUIRED = {"robot": "robot", "left": "left", "right": "right", "voter": "voter_id"}
OPTIONAL = {"scene": "scene", "task": "task", "day": "day"}
"""What the table calls it -> the file's column."""
COLUMNS = ("battle_id", "voter_id", "robot", "left", "right", "vote")
NOT_A_NAME = {"", "nan", "null", "none", "na", "n/a"}
"""How missing values look after a trip through a spreadsheet or a data frame; compared in lower case."""


class NotPlain(ValueError):
    """The file needs the slow reader. Says why, for files that no other reader takes."""


def read_plain(path: Path) -> Table:
    """Raises NotPlain and OSError."""
    try:
        found = _parquet(path) if path.suffix == ".parquet" else _csv(path)
        with ThreadPoolExecutor(1) as beside:
            battles = beside.submit(_check_battles, found.column("battle_id"))
            codes = {key: _coded(found, column) for key, column in (REQUIRED | OPTIONAL).items()}
            outcome, outcomes = _coded(found, "vote")
            battles.result()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise NotPlain(str(error)) from None
    if unknown := sorted(set(outcomes) - set(OUTCOMES)):
        raise NotPlain(f"unknown vote {unknown[0]!r}; expected one of {', '.join(OUTCOMES)}")
    for key in ("robot", "left", "right"):
        if nameless := [name for name in codes[key][1] if name.lower() in NOT_A_NAME]:
            raise NotPlain(f"{key} is {nameless[0]!r}; expected a name")
    table = Table(
        {key: codes[key][1] for key in KEYS},
        {key: codes[key][0] for key in KEYS},
        np.array([OUTCOMES.index(name) for name in outcomes], dtype=np.int64)[outcome] if len(outcomes) else outcome,
    )
    if table.against_themselves:
        raise NotPlain(f"{table.against_themselves[0]!r} against itself; expected two different policies")
    return table


def _csv(path: Path) -> pa.Table:
    wanted = {name: pa.dictionary(pa.int32(), pa.string()) for name in (*REQUIRED.values(), *OPTIONAL.values(), "vote")}
    with path.open("rb") as file:
        header = file.readline().decode("utf-8-sig")
    names = [name.strip() for name in header.rstrip("\r\n").split(",")]
    _check_columns(names)
    return pyarrow.csv.read_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 22),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={**wanted, "battle_id": pa.string()},
            include_columns=[name for name in (*COLUMNS, *OPTIONAL.values()) if name in names],
            strings_can_be_null=False,
        ),
    )


def _parquet(path: Path) -> pa.Table:
    names = pyarrow.parquet.read_schema(path).names
    _check_columns(names)
    texts = [name for name in (*REQUIRED.values(), *OPTIONAL.values(), "vote") if name in names]
    found = pyarrow.parquet.read_table(path, columns=["battle_id", *texts], read_dictionary=texts)
    if missing := [name for name in found.column_names if found.column(name).null_count]:
        raise NotPlain(f"column {missing[0]} has empty values; expected text in each row")
    return found


def _check_columns(names: list[str]) -> None:
    if missing := [name for name in COLUMNS if name not in names]:
        raise NotPlain(f"no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    if len(set(names)) < len(names):
        raise NotPlain("a column appears twice; expected each once")


def _check_battles(battles: pa.ChunkedArray) -> None:
    if not len(battles):
        return
    if not _ascending(battles) and pc.count_distinct(battles).as_py() < len(battles):
        raise NotPlain("a battle was voted on twice; expected one vote per battle")
    missing = pa.array(sorted(NOT_A_NAME))
    if pc.min(pc.binary_length(battles)).as_py() < 5 and pc.any(pc.is_in(pc.utf8_lower(battles), missing)).as_py():
        raise NotPlain("a battle_id is empty; expected a name")
    if not _unblank(battles) and pc.any(pc.match_substring_regex(battles, r"^\s|\s$")).as_py():
        raise NotPlain("a battle_id stands between blanks")


def _ascending(texts: pa.ChunkedArray) -> bool:
    """Each is longer than the one before, or as long and behind it, as in an export (b9, b10): no two are equal."""
    before, after = texts[:-1], texts[1:]
    longer = pc.subtract(pc.binary_length(after), pc.binary_length(before))
    behind = pc.and_(pc.equal(longer, 0), pc.less(before, after))
    return bool(pc.all(pc.or_(pc.greater(longer, 0), behind), min_count=0).as_py())


def _unblank(texts: pa.ChunkedArray) -> bool:
    """Every byte is a visible character of ASCII: a quick look that often spares a long one."""
    if not pa.types.is_string(texts.type):
        return False
    buffers = [np.frombuffer(chunk.buffers()[2] or b"", np.uint8) for chunk in texts.chunks]
    return all(not len(data) or (data.min() > 0x20 and data.max() < 0x7F) for data in buffers)


def _coded(found: pa.Table, column: str) -> tuple[Integers, tuple[str, ...]]:
    """(rows,) places in the column's values, stripped and sorted. A column that is not there is empty throughout."""
    if column not in found.column_names:
        return np.zeros(len(found), np.int64), ("",)
    whole = found.column(column).unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], pa.dictionary(pa.int32(), pa.string()))
    texts = whole.dictionary.to_pylist()
    if len(set(texts)) < len(texts) or any(text != text.strip() for text in texts):
        values = sorted({text.strip() for text in texts})
        place = {text: number for number, text in enumerate(values)}
        renumber = np.array([place[text.strip()] for text in texts], dtype=np.int64)
    else:  # Arrow sorts by bytes of UTF-8, which is Python's order
        order = pc.array_sort_indices(whole.dictionary).to_numpy()
        values = [texts[number] for number in order.tolist()]
        renumber = np.empty(len(texts), np.int64)
        renumber[order] = np.arange(len(texts))
    codes: Integers = renumber[whole.indices.to_numpy(zero_copy_only=False)]
    return codes, tuple(values)
