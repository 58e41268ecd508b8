"""Boards with the same votes share a fit, and no others do."""

from __future__ import annotations

import pytest

from rankings.fit.ratings import board_ratings
from rankings.publication import rules, snapshots
from rankings.tally.table import Board, VoteTable

ROW = ("stack", "a", "b", "v1", "2026-01-01", "", 3, 1, 0, 0)
OTHER = ("", "b", "a", "v2", "2026-01-01", "", 3, 1, 2, 0)
EMPTY = ("", "b", "c", "v2", "2026-01-01", "", 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("rows", "fits"),
    [
        ([("widowx", "table", *ROW), ("widowx", "table", *OTHER), ("franka", "table", *EMPTY)], 2),
        ([("widowx", "table", *ROW), ("franka", "table", *OTHER)], 3),
    ],
)
def test_boards_of_the_same_votes_share_a_fit_and_each_board_has_its_own_figures(
    rows: list[tuple[str | int, ...]], fits: int
) -> None:
    table = VoteTable.of(rows)
    rated = snapshots.rate(table, table.boards())
    assert [each.board for each in rated] == table.boards()
    for each in rated:
        assert each.ratings == board_ratings(table.counts(each.board), rules.options())
    assert len({id(each.fit) for each in rated}) == fits
    assert table.holds_all(Board())
