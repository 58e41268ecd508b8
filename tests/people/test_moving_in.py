"""What a browser has played moves into the account, and nobody gains weight or loses a doubt by it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from arena.models import Attempt, Session, Vote
from people import accounts
from people.models import Account
from rankings.models import CountedVote, ExcludedVoter, Finding, ModerationAct, VoteCount
from rankings.moderation import acts
from rankings.publication import aggregation
from rankings.votes import closed_days, ledger, observed
from tests.arena.conftest import cast, play_battle
from tests.fakes import FakeRuntime
from tests.people.conftest import Person, account_of


def counted(voter: str) -> int:
    rows = VoteCount.objects.filter(voter=voter)
    return sum(row.left_better + row.right_better + row.tie + row.both_bad for row in rows)


def vote(person: Person, choice: str = "left_better") -> str:
    battle_id = play_battle(person)
    cast(person, battle_id, choice)
    return battle_id


def test_a_new_account_takes_the_id_of_its_browser_so_that_nothing_moves(person: Person, runtime: FakeRuntime) -> None:
    battle_id = vote(person)
    before = person.visitor_id
    person.sign_up()
    assert account_of(person).visitor == before == person.visitor_id
    assert not Vote.objects.get().moved
    assert person.get(f"battles/{battle_id}").status_code == 200


def test_a_second_device_brings_its_battles_and_votes(person: Person, runtime: FakeRuntime) -> None:
    vote(person)
    person.sign_up()
    phone = Person()
    vote(phone, "tie")
    ongoing = play_battle(phone)
    phone.sign_in()
    own = account_of(person).visitor
    assert phone.visitor_id == person.visitor_id == own
    assert set(Session.objects.values_list("user_id", flat=True)) == {own}
    assert set(Vote.objects.values_list("user_id", flat=True)) == {own}
    assert counted(own) == 2
    assert list(ledger.cells_of(Vote.objects.all()).values()) == [
        ledger.Cell(*(getattr(row.count, name) for name in ledger.Cell._fields))
        for row in CountedVote.objects.select_related("count").order_by("-vote__voted_at")
    ]
    cast(phone, ongoing, "both_bad")
    assert counted(own) == 3
    assert {row["session_id"] for row in person.get("sessions/").json()["results"]} == set(
        Session.objects.values_list("session_id", flat=True)
    )


def test_the_board_knows_one_voter_afterwards(person: Person, runtime: FakeRuntime) -> None:
    vote(person)
    person.sign_up()
    phone = Person()
    vote(phone)
    phone.sign_in()
    aggregation.aggregate()
    assert person.get("leaderboard/stats").json()["total_voters"] == 1


def test_after_signing_out_the_browser_is_somebody_new(person: Person, runtime: FakeRuntime) -> None:
    vote(person)
    person.sign_up()
    person.sign_out()
    assert person.visitor_id is None
    assert person.get("sessions/").json()["results"] == []
    vote(person)
    assert person.visitor_id not in (None, account_of(person).visitor)
    person.sign_in()
    assert Vote.objects.filter(user_id=account_of(person).visitor).count() == 2


def test_the_browser_of_another_account_is_not_taken_over(person: Person, runtime: FakeRuntime) -> None:
    vote(person)
    person.sign_up()
    person.client.cookies.pop("sessionid")  # the login ends, the visitor's cookie stays
    other = Person(person.client, address="grace@example.org")
    other.sign_up()
    assert Account.objects.count() == 2
    assert Vote.objects.get().user_id == account_of(Person(address="ada@example.org")).visitor
    assert other.visitor_id == account_of(other).visitor != Vote.objects.get().user_id


def test_a_tab_that_went_on_under_another_cookie_is_taken_in_by_the_profile(
    person: Person, runtime: FakeRuntime
) -> None:
    person.sign_up()
    session = {name: person.client.cookies[name].value for name in ("sessionid",)}
    stray = Person()
    vote(stray)
    stray.client.cookies.load(session)
    stray.page("/profile/")
    assert Vote.objects.get().user_id == account_of(person).visitor == stray.visitor_id


def make_clear(winner: str) -> None:
    """Let physics judge all battles: only the winner reached the goal."""
    Attempt.objects.update(success=False, progress=0.0)
    Attempt.objects.filter(side=winner).update(success=True, progress=1.0)


def answers(voter: str) -> tuple[int, int, int]:
    return tuple(observed.facts_and_answers().answers["robots"].get(voter, observed.Answers()))


def test_right_answers_of_another_cookie_earn_no_trust_and_wrong_ones_cost_it(
    person: Person, runtime: FakeRuntime
) -> None:
    person.sign_up()
    own = account_of(person).visitor
    vote(person, "left_better")
    phone = Person()
    vote(phone, "left_better")
    vote(phone, "right_better")
    make_clear("left")
    assert answers(own) == (1, 0, 0)
    phone.sign_in()
    assert answers(own) == (1, 1, 0)


def test_a_day_that_was_closed_is_counted_again(person: Person, runtime: FakeRuntime) -> None:
    person.sign_up()
    phone = Person()
    vote(phone)
    other = phone.visitor_id
    a_week_ago = timezone.now() - timedelta(days=7)
    Vote.objects.update(voted_at=a_week_ago)
    VoteCount.objects.update(day=a_week_ago.date())
    assert closed_days.close() == 1
    phone.sign_in()
    assert closed_days.close() == 1
    assert other not in closed_days.counts().values["voter"]
    assert closed_days.differing() == []


@pytest.mark.parametrize("excluded", ["the account", "the other cookie"])
def test_an_exclusion_holds_for_both_afterwards(person: Person, runtime: FakeRuntime, excluded: str) -> None:
    vote(person)
    person.sign_up()
    phone = Person()
    vote(phone)
    own, other = account_of(person).visitor, phone.visitor_id
    moderator = acts.By(None, "stuffs votes")
    acts.exclude_voter(own if excluded == "the account" else str(other), moderator)
    phone.sign_in()
    assert counted(own) == 0
    assert [row.voter for row in ExcludedVoter.objects.all()] == [own]
    assert not CountedVote.objects.filter(counted=True).exists()
    assert ModerationAct.objects.filter(subject=own).count() == 1
    vote(phone)
    assert counted(own) == 0


def test_a_doubt_follows_to_the_account(person: Person, runtime: FakeRuntime) -> None:
    person.sign_up()
    phone = Person()
    vote(phone)
    own, other = account_of(person).visitor, phone.visitor_id
    kinds = Finding.Kind
    Finding.objects.create(kind=kinds.OUTLIER, arena="robots", subject=other)
    Finding.objects.create(kind=kinds.UNRELIABLE, arena="robots", subject=other)
    Finding.objects.create(kind=kinds.UNRELIABLE, arena="robots", subject=own, state=Finding.State.DISMISSED)
    Finding.objects.create(kind=kinds.CAMPAIGN, subject="for alpha", evidence={"voters": [other, "somebody"]})
    phone.sign_in()
    assert set(Finding.objects.filter(kind__in=(kinds.OUTLIER, kinds.UNRELIABLE)).values_list("subject", "state")) == {
        (own, "open")
    }
    assert Finding.objects.get(kind=kinds.CAMPAIGN).evidence == {"voters": [own, "somebody"]}


def test_limits_of_a_visitor_are_those_of_the_account(person: Person, runtime: FakeRuntime, settings: Any) -> None:
    person.sign_up()
    settings.RATE_LIMITS = {"votes": {"visitor": ((1, 3600),)}}
    vote(person)
    phone = Person()
    phone.sign_in()
    battle_id = play_battle(phone)
    assert phone.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 429


def test_moving_needs_few_queries_however_many_votes_there_are(
    person: Person, runtime: FakeRuntime, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        vote(person)
    user = User.objects.create(username="visitor-1")
    account = Account.objects.create(user=user, visitor="11111111-1111-4111-8111-111111111111")
    with django_assert_max_num_queries(30):
        accounts.move_in(str(person.visitor_id), account)


def test_an_anonymous_visitor_costs_no_query_for_accounts(
    person: Person, runtime: FakeRuntime, django_assert_num_queries: Any
) -> None:
    person.open()
    person.client.get("/battle")  # every page asks now and then whether there are games
    for page in ("/battle", "/account/login/", "/account/signup/", "/privacy/"):
        with django_assert_num_queries(0):
            assert person.client.get(page).status_code == 200, page
