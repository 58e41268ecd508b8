"""Episodes and calibration battles of past days are kept as sums: a publication reads none of them a second time."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena import kinds
from arena.models import Attempt, Battle, Purpose, Vote
from rankings.models import PastDay
from rankings.publication import aggregation, checking
from rankings.votes import ledger, observed, past_days
from tests.factories import PolicyFactory, ReferenceFactory, SessionFactory
from tests.rankings.test_report import FREE, STACK, voted

pytestmark = pytest.mark.django_db
TODAY = timezone.now()
LONG_AGO = TODAY - timedelta(days=40)


@pytest.fixture(autouse=True)
def _days_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that began before midnight tests after it."""
    now = timezone.now()
    monkeypatch.setitem(globals(), "TODAY", now)
    monkeypatch.setitem(globals(), "LONG_AGO", now - timedelta(days=40))


@pytest.fixture
def pair() -> dict[str, Any]:
    return {"battle__left_model": PolicyFactory(id="a"), "battle__right_model": PolicyFactory(id="b")}


def on(moment: datetime, vote: Vote, purpose: str = Purpose.RANK) -> Vote:
    Vote.objects.filter(pk=vote.pk).update(voted_at=moment, purpose=purpose)
    Battle.objects.filter(pk=vote.battle.pk).update(purpose=purpose)
    return vote


def several(pair: dict[str, Any]) -> None:
    """Episodes of two tasks, free text, a repeat, gold battles and a reference, on past days, yesterday and today."""
    session = SessionFactory(user_id="careful")
    first = on(LONG_AGO, voted("left_better", left=True, battle__session=session, **pair))
    for moment in (LONG_AGO, LONG_AGO + timedelta(days=3), TODAY - timedelta(days=1), TODAY):
        on(moment, voted("right_better", right=True, instruction=STACK, **pair))
        on(moment, voted("tie", instruction=FREE, **pair))
        on(moment, voted("left_better", left=True, user_id="sleepy", **pair), Purpose.GOLD)
        again = on(moment, voted("right_better", left=True, battle__session=session, **pair), Purpose.REPEAT)
        Battle.objects.filter(pk=again.battle.pk).update(repeats=first.battle)
    on(LONG_AGO, voted(left=True, **{**pair, "battle__right_model": ReferenceFactory(id="expert")}))


def everything() -> past_days.Observed:
    """By reading every battle."""
    sums = [each for each in observed.played(kinds.default()) if each.contestant != "expert"]
    found = observed.calibration_results(kinds.default())
    return past_days.Observed(sums, {voter: own.reliability() for voter, own in found.items()})


def test_sums_of_days_are_those_of_all_battles(pair: dict[str, Any]) -> None:
    several(pair)
    wanted = everything()
    assert past_days.observe(kinds.default(), past_days.missing()) == wanted
    aggregation.aggregate()
    assert [each.day for each in PastDay.objects.order_by("day")] == [
        (LONG_AGO + timedelta(days=number)).date() for number in (0, 3)
    ]
    assert past_days.observe(kinds.default()) == wanted
    assert {each.task for each in wanted.played} == {"pick", "stack"}
    assert {voter: own.items for voter, own in wanted.reliability.items()} == {"careful": 4, "sleepy": 4}
    assert past_days.missing() == []
    assert checking.differences() == []


def test_a_publication_reads_no_battle_of_a_past_day_again(pair: dict[str, Any]) -> None:
    several(pair)
    aggregation.aggregate()
    before = past_days.observe(kinds.default())
    old = Vote.objects.filter(voted_at__lt=TODAY - timedelta(days=5)).values("battle_id")
    Attempt.objects.filter(turn__battle_id__in=old).update(success=True, progress=1.0)
    assert past_days.observe(kinds.default(), past_days.missing()) == before != everything()
    assert {each.board for each in checking.differences()} >= {"past days"}


@pytest.mark.parametrize("votes", [1, 12])
def test_as_many_queries_and_rows_whatever_a_past_day_holds(votes: int, pair: dict[str, Any]) -> None:
    for _ in range(votes):
        on(LONG_AGO, voted("right_better", right=True, user_id="sleepy", **pair), Purpose.GOLD)
    aggregation.aggregate()
    with CaptureQueriesContext(connection) as asked:
        past_days.observe(kinds.default(), past_days.missing())
    assert (len(asked), sum(len(answer(each["sql"])) for each in asked.captured_queries)) == (7, 4)


def answer(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def test_votes_that_get_another_voter_are_counted_with_the_new_one(pair: dict[str, Any]) -> None:
    several(pair)
    aggregation.aggregate()
    ledger.rename_voter("sleepy", "awake", moved=True)
    assert [each.stale for each in PastDay.objects.order_by("day")] == [True, True]
    assert checking.differences(boards=False) == []
    aggregation.aggregate()
    assert set(past_days.observe(kinds.default()).reliability) == {"careful", "awake"}
    assert past_days.observe(kinds.default()) == everything()
    assert not PastDay.objects.filter(stale=True).exists()


def test_a_vote_that_comes_for_a_past_day_is_found_by_the_check_and_taken_in_by_a_rebuild(pair: dict[str, Any]) -> None:
    several(pair)
    aggregation.aggregate()
    on(LONG_AGO, voted("left_better", left=True, user_id="late", **pair), Purpose.GOLD)
    found = [(each.board, each.model_id) for each in checking.differences(boards=False)]
    assert found == [("past days", LONG_AGO.date().isoformat())]
    aggregation.rebuild()
    assert past_days.observe(kinds.default()) == everything()
    assert checking.differences(boards=False) == []


def test_days_that_a_clock_set_back_calls_open_are_read_from_their_battles(
    pair: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    several(pair)
    aggregation.aggregate()
    wanted = past_days.observe(kinds.default())
    monkeypatch.setattr(timezone, "now", lambda: LONG_AGO + timedelta(days=4))
    assert past_days.observe(kinds.default(), past_days.missing()) == wanted


def test_before_the_first_vote_nothing_is_kept() -> None:
    aggregation.aggregate()
    assert not PastDay.objects.exists()
    assert past_days.observe(kinds.default()) == past_days.Observed([], {})
    assert past_days.forget({date.today()}) == 0
