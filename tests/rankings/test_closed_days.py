"""Days that are over are kept in columns, and never say anything else than the counts row by row."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Vote
from arena.signals import vote_cast
from rankings.models import ClosedDay, ModelStatsTotal, VoteCount
from rankings.publication import aggregation, checking
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import LEFT, Fact
from rankings.tally.table import KEYS, VoteTable
from rankings.votes import closed_days, ledger, observed
from tests.factories import PolicyFactory, VoteFactory
from tests.rankings.ballots import FIRST_VOTE, ballots, cast, rows_of

pytestmark = pytest.mark.django_db

DAY = 86_400
SOME = ballots(("a", "b", "left_better", 3, "v1"), ("b", "a", "tie", 2, "v2"), ("c", "a", "both_bad", 1))
LATER = ballots(("a", "c", "right_better", 4, "v2"))


def rows(table: VoteTable) -> list[tuple[str | int, ...]]:
    """As texts and numbers, sorted."""
    texts = [[table.values[key][code] for code in table.codes[key].tolist()] for key in KEYS]
    return sorted(zip(*texts, *table.outcomes.T.tolist(), strict=True))


def stored() -> list[tuple[str | int, ...]]:
    found = VoteCount.objects.values_list(*closed_days.COLUMNS, *OUTCOMES)
    return sorted((*row[:6], row[6].isoformat(), *row[7:]) for row in found)


def votes_of(policy: str) -> int:
    return int(ModelStatsTotal.objects.get(model_id=policy).vote_count)


def test_days_that_are_over_close_and_all_days_together_are_the_stored_counts() -> None:
    cast(SOME)
    cast(LATER, start=3 * DAY)
    today = cast(SOME[:1])
    Vote.objects.filter(pk=today[0].pk).update(voted_at=timezone.now())
    aggregation.aggregate()
    assert list(ClosedDay.objects.order_by("day").values_list("day", flat=True)) == [
        date(2026, 1, 1),
        date(2026, 1, 4),
    ]
    assert rows(closed_days.counts()) == stored()
    assert len(stored()) == 5
    assert closed_days.close() == 0


def test_yesterday_stays_open() -> None:
    yesterday = cast(SOME[:1])
    Vote.objects.filter(pk=yesterday[0].pk).update(voted_at=timezone.now() - timedelta(days=1))
    aggregation.aggregate()
    assert not ClosedDay.objects.exists()
    assert rows(closed_days.counts()) == stored() != []


def test_a_vote_that_comes_late_opens_its_day_again() -> None:
    cast(SOME)
    aggregation.aggregate()
    before = votes_of("a")
    cast(LATER, start=100)
    aggregation.aggregate()
    assert votes_of("a") == before + 4
    assert checking.differences() == []


def test_exclusions_and_restorations_open_the_day_again_and_no_other() -> None:
    first, later = cast(SOME), cast(LATER, start=3 * DAY)
    aggregation.aggregate()
    ledger.exclude_votes([first[0].pk])
    assert [each.day for each in ClosedDay.objects.all()] == [date(2026, 1, 4)]
    aggregation.aggregate()
    assert votes_of("a") == len(SOME) + len(LATER) - 1
    ledger.exclude_voter("v2")
    assert not ClosedDay.objects.exists()
    aggregation.aggregate()
    assert votes_of("a") == 3
    ledger.restore_voter("v2")
    ledger.restore_votes([first[0].pk])
    aggregation.aggregate()
    assert votes_of("a") == len(SOME) + len(LATER)
    ledger.uncount_votes([later[0].pk])
    assert [each.day for each in ClosedDay.objects.all()] == [date(2026, 1, 1)]


def test_a_copy_that_differs_from_the_rows_is_named_by_the_check_and_mended_by_a_rebuild() -> None:
    cast(SOME)
    aggregation.aggregate()
    other = ClosedDay.objects.get()
    VoteCount.objects.filter(voter="v1").update(left_better=9)
    ClosedDay.objects.all().delete()
    closed_days.close()
    VoteCount.objects.filter(voter="v1").update(left_better=3)
    assert ClosedDay.objects.get().counts != other.counts
    assert "closed days" in [each.board for each in checking.differences()]
    aggregation.rebuild()
    assert checking.differences() == []
    assert rows(closed_days.counts(closed_days.closing())) == stored()


def test_facts_of_the_votes_of_closed_days_are_kept_and_checked() -> None:
    pair = {"battle__left_model": PolicyFactory(id="a"), "battle__right_model": PolicyFactory(id="b")}
    for days in (0, 0, 5):
        vote = VoteFactory(vote="left_better", **pair)
        vote.battle.turns.update(instruction="pick up the red cube")
        Vote.objects.filter(pk=vote.pk).update(voted_at=FIRST_VOTE + timedelta(days=days))
        vote.battle.turns.get().attempts.filter(side="left").update(success=True)
        vote.battle.turns.get().attempts.filter(side="right").update(success=False)
    aggregation.aggregate()
    kept = closed_days.read_facts().facts()
    assert rows_of(kept) == rows_of(observed.facts_and_answers().facts)
    voters = [kept.values["voter"][code] for code in kept.codes["voter"]]
    assert len(set(voters) - {""}) == 3
    days = ("2026-01-01", "2026-01-01", "2026-01-06")
    told = [Fact("widowx", "table", "pick", "a", "b", "", day, 0, LEFT, 50, 50) for day in days]
    assert sorted(each._replace(voter="") for each in rows_of(kept)) == told
    counts, voters = closed_days.counts_and_voters()
    shared = closed_days.read_facts(voters=voters).facts()
    assert rows_of(shared) == rows_of(kept)
    assert shared.values["voter"] is counts.values["voter"]
    ClosedDay.objects.update(facts=b"")
    assert closed_days.differing() == [date(2026, 1, 1), date(2026, 1, 6)]


def test_a_vote_cast_while_the_clock_was_back_is_not_lost() -> None:
    cast(SOME)
    aggregation.aggregate()
    vote = cast(LATER[:1], start=200)[0]
    vote_cast.send(sender=Vote, vote=vote)
    assert ClosedDay.objects.exists()
    closed_days.close()
    assert rows(closed_days.counts()) == stored()
    assert closed_days.differing() == []


def test_days_that_a_clock_set_back_calls_open_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    cast(SOME)
    aggregation.aggregate()
    monkeypatch.setattr(timezone, "now", lambda: FIRST_VOTE + timedelta(hours=3))
    closed_days.close()
    assert not ClosedDay.objects.exists()
    assert rows(closed_days.counts()) == stored()


def test_a_vote_of_this_moment_asks_nothing_about_closed_days() -> None:
    cast(SOME)
    aggregation.aggregate()
    vote = cast(SOME[:1])[0]
    vote.voted_at = timezone.now()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        vote_cast.send(sender=Vote, vote=vote)
    assert any("vote_counts" in each["sql"] for each in asked)
    assert not any("closed_days" in each["sql"] for each in asked)
