"""All counts as one CSV file, the same bytes for the same counts, and without a word on who voted. No Django."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io

from rankings.counts import OUTCOMES
from rankings.table import KEYS, Table

COLUMNS = (*KEYS, *OUTCOMES)


def write_counts(table: Table) -> bytes:
    """The rows with a count, sorted; voters are numbered anew as "v1", "v2", ... (empty: nobody knows who)."""
    texts = {key: [table.values[key][code] for code in table.codes[key].tolist()] for key in KEYS}
    texts["voter"] = numbered(texts["voter"])
    rows = zip(*(texts[key] for key in KEYS), *table.outcomes.T.tolist(), strict=True)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(sorted(row for row in rows if any(row[len(KEYS) :])))
    return out.getvalue().encode()


def input_hash(file: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(file).hexdigest()


def packed(file: bytes) -> bytes:
    """Gzipped at the usual level, without a time stamp, so that equal files stay equal."""
    return gzip.compress(file, compresslevel=6, mtime=0)


def numbered(voters: list[str]) -> list[str]:
    """Numbers by the order of ids, which are random; one id has another number in the next file."""
    known = sorted({voter for voter in voters if voter})
    number = {voter: f"v{place}" for place, voter in enumerate(known, start=1)} | {"": ""}
    return [number[voter] for voter in voters]
