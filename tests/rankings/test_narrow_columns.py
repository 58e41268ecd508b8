"""Columns of whole numbers lie in the smallest type that holds them, and are computed with as if they were wide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from rankings.files.arrow import TEXTS
from rankings.files.pieces import Known, Pieces
from rankings.fit.bradley_terry import fit
from rankings.fit.posterior import Games
from rankings.tally import arrays
from rankings.tally.arrays import (
    Codes,
    Column,
    Levels,
    LevelsOrNone,
    are_sorted,
    begins_run,
    distinct,
    in_chunks,
    kept,
    narrowed,
    places_in,
    replaced,
    taken,
)
from rankings.tally.counts import Columns, Counts
from rankings.tally.names import Names, places_of, texts_at
from rankings.tally.table import KEYS, VoteTable


@dataclass(frozen=True)
class Rows:
    name: str
    first: Column = Column()
    second: Column = Column()


@pytest.mark.parametrize(
    ("largest", "kind"), [(127, np.int8), (128, np.int16), (40_000, np.int32), (2**31, np.int64), (-129, np.int16)]
)
def test_a_column_lies_in_the_smallest_type_that_holds_it(largest: int, kind: type) -> None:
    assert narrowed(np.array([0, largest])).dtype == kind
    assert narrowed(np.zeros(0, np.int64)).dtype == np.int8


def test_a_column_is_read_wide_so_that_products_do_not_overflow() -> None:
    rows = Rows("x", np.array([120, 3]), np.array([100, 100]))
    assert kept(rows, "first").dtype == np.int8
    assert (rows.first * rows.second).tolist() == [12_000, 300]


def test_a_copy_with_another_column_shares_the_columns_that_stay() -> None:
    rows = Rows("x", np.array([1]), np.array([2]))
    other = replaced(rows, second=np.array([3000]))
    assert kept(other, "first") is kept(rows, "first")
    assert (other.name, other.first.tolist(), other.second.tolist()) == ("x", [1], [3000])


def test_codes_are_read_wide_and_lie_narrow() -> None:
    codes = Codes({"voter": np.array([100, 7])})
    assert (codes["voter"] * 200).tolist() == [20_000, 1400]
    assert codes.kept("voter").dtype == np.int8


@pytest.mark.parametrize("column", [[], [0, 0, 3, 9], [9, 0, 3, 0], [-1, 5, -1], [2**40, 0, 2**40]])
def test_different_values_and_their_places_are_those_that_sorting_finds(column: list[int]) -> None:
    values, places = np.unique(np.array(column, np.int64), return_inverse=True)
    found = distinct(np.array(column, np.int64))
    assert (found[0].tolist(), found[1].tolist()) == (values.tolist(), places.tolist())


@dataclass(frozen=True)
class Weighed:
    weight: Levels = Levels()
    trust: LevelsOrNone = LevelsOrNone()


def test_numbers_of_which_few_differ_are_read_as_they_were_given() -> None:
    weight = np.array([0.05, 1.0, 0.3667, 1.0])
    rows = Weighed(weight, weight[::-1])
    assert rows.weight.tolist() == weight.tolist()
    assert rows.trust is not None
    assert rows.trust.tolist() == weight[::-1].tolist()
    assert vars(rows)["weight"][1].dtype == np.int8
    assert Weighed(np.zeros(0)).trust is None
    assert len(Weighed(np.zeros(0)).weight) == 0


def test_a_field_of_levels_has_no_default() -> None:
    with pytest.raises(TypeError, match="weight"):
        Weighed()


def test_values_are_taken_and_computed_in_chunks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "CHUNK", 3)
    values, places = np.array([2.5, -1.0, 300.0]), np.array([0, 2, 2, 1, 0, 2, 1], np.int8)
    assert taken(values, places).tolist() == values[places].tolist()
    found = in_chunks(7, lambda rows: places[rows] * np.int64(100))
    assert (found.tolist(), found.dtype) == ((places * 100.0).tolist(), np.int16)
    assert len(in_chunks(0, lambda rows: places[rows])) == 0


@pytest.mark.parametrize("wanted", [[], [3, 3, 5, 9], [3, 9], [0, 3], [9, 10], [9, 3, 5], [5], [-4]])
def test_places_are_those_that_a_search_finds(wanted: list[int]) -> None:
    known = [3, 5, 9]
    found = places_in(np.array(known, np.int8), np.array(wanted, np.int64))
    assert found.tolist() == [known.index(each) if each in known else len(known) for each in wanted]


def test_rows_are_sorted_by_the_first_column_and_then_the_second() -> None:
    first, second = np.array([0, 0, 0, 1, 1]), np.array([4, 4, 7, 2, 2])
    assert are_sorted(first, second)
    assert not are_sorted(second, first)
    assert are_sorted(first[:0])


def test_runs_begin_where_any_column_changes() -> None:
    first, second = np.array([0, 0, 0, 1, 1]), np.array([4, 4, 7, 2, 2])
    assert begins_run(first, second).tolist() == [True, False, True, True, False]


def test_names_in_one_block_are_a_sequence_of_texts() -> None:
    texts = ("", "a", "bé", "ü" * 40)
    names = Names.of(texts)
    assert (tuple(names), len(names), names[2], names[-1]) == (texts, 4, "bé", texts[3])
    assert (names[:1], names[1:3], names[9:]) == (("",), ("a", "bé"), ())
    assert "a" in names
    assert "b" not in names
    with pytest.raises(IndexError):
        names[4]


@pytest.mark.parametrize("texts", [("ab", "bé", "cd"), ("", "ab", "cd"), ("", "a", "bcd", "é"), ("",), ()])
def test_names_know_the_places_of_texts(texts: tuple[str, ...]) -> None:
    wanted = {"cd", "ab", "é", "a", "", "abc", "zzzz"}
    places = [place for place, text in enumerate(texts) if text and text in wanted]
    assert Names.of(texts).places_of(wanted).tolist() == places
    assert places_of(wanted, texts).tolist() == places
    assert Names.of(texts).places_of(()).tolist() == []


@pytest.mark.parametrize("texts", [("", "a", "bé"), Names.of(("", "a", "bé"))])
def test_texts_at_some_places_are_read_together(texts: tuple[str, ...] | Names) -> None:
    assert texts_at(texts, np.array([2, 0, 2])) == ["bé", "", "bé"]
    assert texts_at(texts, np.array([], np.int64)) == []


def test_names_equal_the_same_texts_however_they_lie() -> None:
    names = Names.of(("ab", "c"))
    assert names == ("ab", "c") == names
    assert names == Names.of(["ab", "c"])
    assert hash(names) == hash(Names.of(["ab", "c"]))
    assert names != Names.of(("a", "bc"))
    assert names != ("ab",)
    assert names != ["ab", "c"]


def pieces_of(chunks: list[list[str]], known: Known | None = None) -> tuple[list[str], Known]:
    """The texts of a column in pieces, found by their codes, and how they are coded."""
    pieces = Pieces(known)
    for chunk in chunks:
        pieces.add(pa.chunked_array([pa.array(chunk, pa.string()).dictionary_encode()], TEXTS))
    places, found = pieces.coded()
    return [found.values[place] for place in places.tolist()], found


def test_a_column_with_the_dictionaries_of_another_shares_its_values() -> None:
    days = [["b", "a"], ["c", "b", "b"], []]
    known = pieces_of(days)[1]
    for chunks in (days, [["c", "b"], ["b", "a", "b", "a"]], [[]], []):
        texts, found = pieces_of(chunks, known)
        assert texts == [text for chunk in chunks for text in chunk]
        assert found.values is known.values


@pytest.mark.parametrize("new", [["b", "d"], ["a", "b"], ["", "z"], ["c"]])
def test_a_column_with_a_dictionary_of_its_own_has_its_texts_and_those_of_the_other(new: list[str]) -> None:
    days = [["b", "a"], ["c", "b", "b"]]
    texts, found = pieces_of([["c", "b"], new, ["b", "a"]], pieces_of(days)[1])
    assert texts == ["c", "b", *new, "b", "a"]
    assert found.values == tuple(sorted({"a", "b", "c", *new}))


def columns(votes: int) -> Columns:
    """Of 200 contestants, 300 voters and 200 days: products of their numbers do not fit into the types they lie in."""
    random = np.random.default_rng(votes)
    left = random.integers(0, 200, votes)
    right = (left + random.integers(1, 200, votes)) % 200
    voter, day = random.integers(-1, 300, votes), random.integers(0, 200, votes)
    return Columns(left, right, voter, 0 * day, day, np.eye(4, dtype=np.int64)[random.integers(0, 4, votes)])


def test_counts_of_narrow_columns_are_those_of_wide_ones() -> None:
    wide = columns(3000)
    one, other = (Counts.of([f"{n:03}" for n in range(200)], Columns(*map(each, wide))) for each in (np.copy, narrowed))
    for name in ("left", "right", "voter", "day", "outcomes", "votes", "cell", "scores"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.cell.max() > np.iinfo(np.int16).max
    np.testing.assert_array_equal(one.weights(2), other.weights(2))
    np.testing.assert_array_equal(fit(one, cap=2).rating, fit(other, cap=2).rating)


def test_sums_over_chunks_of_rows_are_those_over_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts.of([f"{n:03}" for n in range(200)], columns(3000))
    weights = np.random.default_rng(0).uniform(0.1, 1.0, len(counts.left))
    whole = Games.of(counts, weights)
    monkeypatch.setattr(arrays, "CHUNK", 700)
    parts = Games.of(counts, weights)
    for name in ("played", "score", "tied", "scored"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)


def test_the_order_of_the_rows_of_a_table_changes_no_count() -> None:
    random, votes = np.random.default_rng(5), 500
    values = {key: tuple(f"{key}-{number:02}" for number in range(20)) for key in KEYS}
    codes = {key: random.integers(0, 20, votes) for key in KEYS}
    codes["right"] = (codes["left"] + 1 + codes["right"] % 19) % 20
    outcomes = np.eye(4, dtype=np.int64)[random.integers(0, 4, votes)]
    table = VoteTable(values, Codes(codes), outcomes)
    order = random.permutation(votes)
    mixed = VoteTable(values, Codes((key, column[order]) for key, column in codes.items()), outcomes[order])
    for name in ("left", "right", "voter", "setting", "day", "outcomes"):
        np.testing.assert_array_equal(getattr(table.counts(), name), getattr(mixed.counts(), name))
    np.testing.assert_array_equal(table.counts().weights(1), mixed.counts().weights(1))
    assert table.boards() == mixed.boards()


def test_a_column_in_pieces_is_that_of_all_its_rows() -> None:
    texts = [["b", "a"], [], ["c", "a", "b", "a"], ["é"]]
    pieces, numbers = Pieces(), Pieces()
    for chunk in texts:
        pieces.add(pa.chunked_array([pa.array(chunk, pa.string()).dictionary_encode()], TEXTS))
        numbers.add(pa.chunked_array([pa.array([200 * len(chunk)] * len(chunk), pa.int64())]))
    places, known = pieces.coded()
    values = known.values
    assert values == ("a", "b", "c", "é")
    assert [values[place] for place in places.tolist()] == [text for chunk in texts for text in chunk]
    assert numbers.numbers().tolist() == [200 * len(chunk) for chunk in texts for _ in chunk]
