"""Columns of texts become places among their sorted values, and votes become counts, as the plain way has them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from rankings.files.arrow import TEXTS, coded
from rankings.tally.counts import Columns, Counts


def column(*chunks: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(chunk, pa.string()).dictionary_encode() for chunk in chunks], TEXTS)


@pytest.mark.parametrize("strip", [True, False])
@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [[]],
        [["b", "a"], ["c", "a", "b"]],
        [[" a", "a", "b "], ["a ", "b", ""]],
        [["", " ", "z"], ["\tz", "é", "z"]],
    ],
    ids=["no chunk", "no row", "several chunks", "blanks", "empty texts"],
)
def test_a_place_leads_to_the_text_of_its_row(chunks: list[list[str]], strip: bool) -> None:
    texts = [text.strip() if strip else text for chunk in chunks for text in chunk]
    places, values = coded(column(*chunks), strip=strip)
    assert values == sorted(set(texts))
    assert [values[place] for place in places.tolist()] == texts


def test_single_votes_are_counted_as_one_by_one() -> None:
    random = np.random.default_rng(1)
    left = random.integers(0, 4, 900)
    right = (left + random.integers(1, 4, 900)) % 4
    voter, day, outcome = random.integers(-1, 6, 900), random.integers(0, 2, 900), random.integers(0, 4, 900)
    found = Counts.of(list("abcd"), Columns(left, right, voter, 0 * day, day, outcome))
    plain = Counter(zip(*(each.tolist() for each in (left, right, voter, day, outcome)), strict=True))
    rows = zip(*(each.tolist() for each in (found.left, found.right, found.voter, found.day)), strict=True)
    wanted = {row: [plain[*row, each] for each in range(4)] for row in {key[:4] for key in plain}}
    assert dict(zip(rows, found.outcomes.tolist(), strict=True)) == wanted
    assert found.outcomes.dtype == np.int64
