"""The kept counts of days that are over, spoilt: made anew from the counts row by row, named by the check, and believed
by nobody. And the counts file that is published, where a file of votes is asked for: refused in words.
"""

from __future__ import annotations

import copy
import gzip
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from django.db import DatabaseError, transaction
from hypothesis import strategies as st

from arena.models import Vote
from policies.models import Policy
from rankings.files.counts_file import write_counts
from rankings.files.rating_file import REFUSALS, add_arguments, printed
from rankings.fit.ratings import Options
from rankings.models import ClosedDay, ModelStatsTotal
from rankings.publication import aggregation, checking
from rankings.tally.table import VoteTable
from rankings.votes import closed_days, ledger, observed
from tests.factories import VoteFactory
from tests.fuzz.damage import damaged_bytes
from tests.fuzz.effort import fuzz
from tests.rankings.ballots import FIRST_VOTE, ballots, cast, rows_of
from tests.rankings.test_closed_days import rows as counted
from tests.rankings.test_closed_days import stored

DAYS = 3


class Kept(NamedTuple):
    """Columns of a row of `closed_days` that a disk, a hand or a program may spoil."""

    counts: bytes
    facts: bytes
    last_vote: int


@pytest.fixture
def kept(db: None) -> dict[date, Kept]:
    """What an arena keeps of three days with votes, on some of which physics has its own opinion."""
    for day in range(DAYS):
        some = ballots(("a", "b", "left_better", 2 + day, "v1"), ("b", "a", "tie", 1, "v2"), ("c", "a", "both_bad", 1))
        cast(some, start=day * 86_400)
        pair = {"battle__left_model": Policy.objects.get(pk="a"), "battle__right_model": Policy.objects.get(pk="b")}
        vote = VoteFactory(vote="left_better", **pair)
        vote.battle.turns.update(instruction="pick up the red cube")
        vote.battle.turns.get().attempts.filter(side="left").update(success=True)
        Vote.objects.filter(pk=vote.pk).update(voted_at=FIRST_VOTE + timedelta(days=day))
    aggregation.aggregate()
    assert ClosedDay.objects.count() == DAYS
    assert len(observed.facts_and_answers().facts) == DAYS
    return as_kept()


def as_kept() -> dict[date, Kept]:
    found = ClosedDay.objects.order_by("day").values_list("day", "counts", "facts", "last_vote")
    return {day: Kept(bytes(counts), bytes(facts), last_vote) for day, counts, facts, last_vote in found}


@contextmanager
def nothing_kept() -> Iterator[None]:
    """One case: its rows are as before, afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@st.composite
def spoilt(draw: st.DrawFn, good: dict[date, Kept]) -> tuple[date, Kept]:
    """A day, and its row with one to three columns spoilt, or taken from another day."""
    day = draw(st.sampled_from(sorted(good)))
    row = Kept(*copy.deepcopy(good[day]))
    for column in draw(
        st.lists(st.sampled_from(["counts", "counts", "facts", "last_vote", "other"]), min_size=1, max_size=3)
    ):
        other = good[draw(st.sampled_from(sorted(good)))]
        if column == "counts":
            row = row._replace(counts=draw(damaged_bytes(row.counts)))
        elif column == "facts":
            row = row._replace(facts=draw(damaged_bytes(row.facts)))
        elif column == "last_vote":
            row = row._replace(last_vote=draw(st.integers(-(2**63), 2**63 - 1)))
        else:
            name = draw(st.sampled_from(Kept._fields))
            row = row._replace(**{name: copy.deepcopy(getattr(other, name))})
    return day, row


def put(day: date, row: Kept) -> bool:
    """Whether the database takes such a row."""
    try:
        with transaction.atomic():
            return bool(ClosedDay.objects.filter(day=day).update(**row._asdict()))
    except (DatabaseError, ValueError, RecursionError):
        return False


@fuzz("kept counts", 150, data=st.data())
def test_whatever_is_kept_the_counts_are_those_of_the_rows(kept: dict[date, Kept], data: st.DataObject) -> None:
    day, row = data.draw(spoilt(kept))
    with nothing_kept():
        if put(day, row):
            closed_days.close()
            assert counted(closed_days.counts()) == stored()
            assert rows_of(closed_days.read_facts().facts()) == rows_of(observed.facts_and_answers().facts)
            assert closed_days.differing() == []
            assert as_kept().keys() == kept.keys()


@fuzz("kept counts", 150, data=st.data())
def test_the_check_names_the_day_that_is_not_as_it_was(kept: dict[date, Kept], data: st.DataObject) -> None:
    day, row = data.draw(spoilt(kept))
    with nothing_kept():
        if put(day, row):
            changed = json.dumps(row._asdict(), default=bytes.hex) != json.dumps(kept[day]._asdict(), default=bytes.hex)
            assert closed_days.differing() == ([day] if changed else [])
            named = [each.model_id for each in checking.differences(boards=False)]
            assert named == ([day.isoformat()] if changed else [])


def test_days_that_an_earlier_version_kept_are_closed_anew(kept: dict[date, Kept]) -> None:
    """Their streams have no sum behind them."""
    for day, row in kept.items():
        put(day, row._replace(counts=row.counts[: -closed_days.SUM_BYTES]))
    assert closed_days.close() == DAYS
    assert closed_days.differing() == []
    assert counted(closed_days.counts()) == stored()


def test_figures_that_somebody_changed_in_a_copy_reach_no_board(kept: dict[date, Kept]) -> None:
    before = dict(ModelStatsTotal.objects.values_list("model_id", "vote_count"))
    day = min(kept)
    table = closed_days._unpacked(kept[day].counts)
    more = table.set_column(table.schema.get_field_index("tie"), "tie", [[9] * len(table)]).cast(closed_days.SCHEMA)
    put(day, kept[day]._replace(counts=closed_days._packed(more) + kept[day].counts[-closed_days.SUM_BYTES :]))
    aggregation.aggregate()
    assert dict(ModelStatsTotal.objects.values_list("model_id", "vote_count")) == before
    assert closed_days.differing() == []


@pytest.mark.django_db
def test_a_day_whose_votes_are_all_taken_back_can_close() -> None:
    """And opens again for the next vote of it."""
    vote = cast(ballots(("a", "b", "tie", 1)))[0]
    ledger.count_votes([vote])
    ledger.uncount_votes([vote.pk])
    assert closed_days.close() == 1
    assert counted(closed_days.counts()) == stored()
    ledger.count_votes([vote])
    closed_days.close()
    assert counted(closed_days.counts()) == stored()


COUNTS = [
    ("widowx", "table", "stack", left, "b", voter, "2026-01-01", "", 1, 2, 3, 4) for left in "ac" for voter in ("", "x")
]


@fuzz("published counts", 150, data=st.data())
def test_a_counts_file_is_no_file_of_votes(tmp_path: Path, data: st.DataObject) -> None:
    good = write_counts(VoteTable.of(COUNTS)).content
    name = data.draw(st.sampled_from(["counts.csv", "counts.csv.gz", "counts.parquet"]))
    whole = good if data.draw(st.booleans()) else gzip.decompress(good)
    (tmp_path / name).write_bytes(data.draw(damaged_bytes(whole)))
    parser = ArgumentParser()
    add_arguments(parser, Options())
    with pytest.raises(REFUSALS, match=r"expected"):
        list(printed(parser.parse_args([str(tmp_path / name)]), Options()))
