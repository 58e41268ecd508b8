"""Length and style beside the ratings: what only looks better is told from what is better."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

from rankings.analysis.style import LEAST_VOTES, WHOLE, Looks, boards, controlled, difference
from rankings.analysis.terms import SCALE, TermVotes
from rankings.tally.arrays import Floats
from rankings.tally.facts import UNKNOWN, Fact, VoteFacts
from rankings.tally.table import VoteTable
from tests.rankings.ballots import rows_of

MEASURES = ("tokens", "headings", "list_items", "bold")
NAMES = ("brief", "even", "wordy")
LENGTHS = {"brief": 80, "even": 160, "wordy": 400}
"""Mean tokens of their answers."""


def votes_of(worth: Mapping[str, float], seed: int = 1, number: int = 3000, ability: float = 60.0) -> TermVotes:
    """`brief` is better than `even`, and that than `wordy`, by `ability` points each; a measure is worth so many."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.permutations(range(3), 2)))[rng.integers(0, 6, number)]
    theta = np.array([ability, 0.0, -ability]) / SCALE
    tokens = rng.lognormal(np.log([LENGTHS[name] for name in NAMES]), 0.4, (number, 3)).astype(int)
    marks = {name: rng.poisson(tokens / 100) for name in MEASURES[1:]}
    rows = np.arange(number)
    measured: dict[str, Floats] = {}
    for name, values in {"tokens": tokens, **marks}.items():
        left, right = (values[rows, pairs[:, side]].astype(float) for side in (0, 1))
        measured[name] = difference(left, right)
    margin = theta[pairs[:, 0]] - theta[pairs[:, 1]]
    for name, points in worth.items():
        margin = margin + measured[name] * points / SCALE
    won = rng.random(number) < 1 / (1 + np.exp(-margin))
    zeros, none = np.zeros(number, np.int64), np.full(number, -1)
    voter = rng.integers(0, 300, number)
    facts = (np.where(won, 0, 1), voter, none, np.ones(number), none, zeros, zeros)
    return TermVotes(NAMES, zeros, pairs[:, 0], pairs[:, 1], *facts, measured)


def order(models: Mapping[str, Mapping[str, float]]) -> list[str]:
    return sorted(models, key=lambda name: -models[name]["rating"])


def test_where_voters_like_length_the_plain_board_is_fooled_and_the_controlled_one_is_not() -> None:
    found = controlled(votes_of({"tokens": 150.0}), MEASURES)
    assert order(found["plain"]["models"]) == ["wordy", "even", "brief"]
    for version in (found["length"], found["style"]):
        assert order(version["models"]) == ["brief", "even", "wordy"]
        term = version["terms"]["tokens"]
        assert term is not None
        assert term["low"] < 150 < term["high"]


def test_where_voters_like_layout_only_the_board_controlled_for_it_finds_the_truth() -> None:
    found = controlled(votes_of({"headings": 80.0, "bold": 80.0}), MEASURES)
    assert order(found["plain"]["models"]) != ["brief", "even", "wordy"]
    style = found["style"]
    assert order(style["models"]) == ["brief", "even", "wordy"]
    for name in MEASURES:
        term, worth = style["terms"][name], 80.0 if name in ("headings", "bold") else 0.0
        assert term is not None
        assert term["low"] < worth < term["high"], name


def test_without_an_effect_of_style_all_boards_agree() -> None:
    found = controlled(votes_of({}, number=6000), MEASURES)
    for version in (found["length"], found["style"]):
        for name, row in version["models"].items():
            assert abs(row["rating"] - found["plain"]["models"][name]["rating"]) < (row["high"] - row["low"]) / 2
        for term in version["terms"].values():
            assert term is not None
            assert term["low"] < 0 < term["high"]


def test_intervals_hold_the_worth_of_length_95_times_in_100() -> None:
    terms = [
        controlled(votes_of({"tokens": 100.0}, seed, 800), MEASURES)["length"]["terms"]["tokens"] for seed in range(80)
    ]
    held = [term is not None and term["low"] <= 100 <= term["high"] for term in terms]
    assert 0.88 <= np.mean(held) <= 1.0


def test_the_difference_is_even_without_either_and_one_for_about_twice_as_much() -> None:
    zeros, many = np.zeros(1), np.array([1000.0])
    assert difference(zeros, zeros) == pytest.approx([0.0])
    assert difference(2 * many, many) == pytest.approx([1.0], abs=0.001)
    assert difference(many, 2 * many) == pytest.approx([-1.0], abs=0.001)
    assert difference(many, zeros) == pytest.approx([3.0], abs=0.01)


def looks(number: int) -> tuple[VoteTable, Looks]:
    """Votes of as many voters: half of the prompts German, of which the second half is about code; one is Dutch."""
    facts = VoteFacts.of(
        Fact(
            "chat",
            "open",
            "",
            *(("a", "b") if row % 2 else ("b", "a")),
            f"v{row}",
            "2026-01-01",
            row % 3 == 0,
            UNKNOWN,
            0,
            0,
        )
        for row in range(number)
    )
    table = VoteTable.of((*row[:7], "", *(int(row.vote == outcome) for outcome in range(4))) for row in rows_of(facts))
    half = number // 2
    languages = ["nl", *["en"] * (number - half - 1), *["de"] * half]
    groups = {"language": languages, "category": [""] * (number - half // 2) + ["code"] * (half // 2)}
    ones = {name: np.ones(number) for name in MEASURES}
    return table, Looks(facts, ones, ones, groups)


def test_each_group_with_enough_votes_has_a_board_and_no_other() -> None:
    table, known = looks(4 * LEAST_VOTES)
    found = boards(table, known, cap=15)
    assert {name: each["plain"]["votes"] for name, each in found.items()} == {
        WHOLE: 80,
        "language=en": 39,
        "language=de": 40,
        "category=code": 20,
    }


def test_without_votes_there_is_no_board_and_what_never_differs_is_unknown() -> None:
    table, known = looks(4 * LEAST_VOTES)
    assert boards(table, known, cap=15)[WHOLE]["style"]["terms"] == dict.fromkeys(MEASURES)
    nothing = Looks(known.facts.where(np.zeros(80, bool)), {}, {}, {})
    assert boards(table, nothing, cap=15) == {}


def test_the_plain_column_is_the_board() -> None:
    votes = votes_of({"tokens": 50.0})
    found = controlled(votes, MEASURES)["plain"]["models"]
    for row in found.values():
        assert row["plain"] == pytest.approx(row["rating"], abs=0.011)
        assert row["low"] < row["rating"] < row["high"]
