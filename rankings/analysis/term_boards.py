"""The facts of votes as `analysis.terms` wants them, each vote weighing what it weighs on its board. No Django."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from rankings.analysis import terms
from rankings.tally.arrays import Floats, Integers, Narrow, chunks, distinct, kept, narrowed, places_in
from rankings.tally.counts import UNKNOWN_VOTER, Counts
from rankings.tally.facts import VoteFacts
from rankings.tally.table import Board, VoteTable


class Terms(TypedDict):
    """`equal`: side, order and length alike. `beyond`: success as well, of the votes on battles of known success."""

    equal: terms.AdjustedBoard
    beyond: terms.AdjustedBoard


def boards(table: VoteTable, facts: VoteFacts, *, cap: int) -> dict[str, Terms]:
    """Of all settings together and of each, by the board's name. `cap`: as on the boards."""
    found: dict[str, Terms] = {}
    for board in (Board(), *(Board(setting=setting) for setting in facts.values["setting"])):
        same = board != Board() and table.holds_all(board)
        found[board.name] = found[Board().name] if same else _terms(votes_of(table, facts, board, cap=cap))
    return found


def votes_of(
    table: VoteTable, facts: VoteFacts, board: Board, *, cap: int, measured: Mapping[str, Floats] | None = None
) -> terms.TermVotes:
    """The votes of a board. One that is on no board, since its count was taken back meanwhile, weighs nothing and is
    left out. `measured`: (votes,) terms of the kind's own, row by row as in `facts`."""
    own = measured or {}
    if board.setting:
        here = facts.codes.kept("setting") == facts.values["setting"].index(board.setting)
        facts, own = facts.where(here), {name: column[here] for name, column in own.items()}
    names = sorted({*facts.values["left"], *facts.values["right"]})
    voter, day = _numbers(facts, "voter", table), _numbers(facts, "day", table)
    counts = table.counts(board)
    left, right = (
        narrowed(np.searchsorted(names, facts.values[side]))[facts.codes.kept(side)] for side in ("left", "right")
    )
    votes = terms.TermVotes(
        names=tuple(names),
        setting=distinct(facts.codes.kept("setting"))[1],
        left=left,
        right=right,
        outcome=kept(facts, "vote"),
        voter=voter,
        network=counts.visits.networks(voter, day),
        weight=weights(counts, voter, day, cap=cap),
        success=kept(facts, "success"),
        steps_left=kept(facts, "steps_left"),
        steps_right=kept(facts, "steps_right"),
        measured=own,
    )
    return votes if (votes.weight > 0).all() else votes.where(votes.weight > 0)


def weights(counts: Counts, voter: Narrow, day: Narrow, *, cap: int) -> Floats:
    """(votes,) what a vote of each voter's day weighs on the board of `counts`; 0 where it has none of that day."""
    counts = counts.without_sides()
    days = int(max(kept(counts, "day").max(initial=0), day.max(initial=0))) + 1
    key, place = distinct(_visits(kept(counts, "voter"), kept(counts, "day"), days))
    key, weight = narrowed(key), np.zeros(len(key) + 1)
    of_row = counts.weights(cap)
    for rows in chunks(len(place)):
        weight[place[rows]] = of_row[rows]
    del place
    found = np.empty(len(voter))
    for rows in chunks(len(voter)):
        found[rows] = weight[places_in(key, _visits(voter[rows], day[rows], days))]
    found[voter == UNKNOWN_VOTER] = 1.0
    return found


def _visits(voter: Narrow, day: Narrow, days: int) -> Integers:
    """(rows,) a number per voter and day."""
    found: Integers = voter.astype(np.int64)
    found *= days
    found += day
    return found


def _terms(votes: terms.TermVotes) -> Terms:
    judged = votes if votes.judged.all() else votes.where(votes.judged)
    return {"equal": terms.board(votes, terms.EQUAL), "beyond": terms.board(judged, terms.BEYOND)}


def _numbers(facts: VoteFacts, name: str, table: VoteTable) -> Narrow:
    """(votes,) numbers of voters or days as the boards' counts have them; past the last where they have none."""
    known = table.values[name]
    if name == "voter" and facts.values[name] == known:
        return facts.codes.kept(name) - np.int8(1) if known[:1] == ("",) else facts.codes.kept(name)
    shift = 1 if name == "voter" and known[:1] == ("",) else 0
    place = {text: number - shift for number, text in enumerate(known)}
    numbers = [place.get(text, len(known)) if text or name == "day" else UNKNOWN_VOTER for text in facts.values[name]]
    return narrowed(np.array(numbers, dtype=np.int64))[facts.codes.kept(name)]
