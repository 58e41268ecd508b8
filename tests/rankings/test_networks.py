"""Moderators see votes by network and day, and take out or bring back all of a network's on a day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Vote
from rankings.models import CountedVote, ModerationAct
from tests.crowd import Member
from tests.factories import PolicyFactory
from tests.people import logged_in, moderator

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("behind_a_proxy")]
LIST = "/admin/rankings/countedvote/"


def tie(_: Any) -> str:
    return "tie"


@pytest.fixture
def votes() -> dict[str, list[Vote]]:
    """Three of one network today, one of it yesterday, one of another network, one of this machine."""
    PolicyFactory(id="alpha")
    PolicyFactory(id="beta")
    told = {
        "today": [Member(f"198.51.100.{host}").play_and_vote(tie) for host in (1, 2, 2)],
        "yesterday": [Member("198.51.100.9").play_and_vote(tie)],
        "elsewhere": [Member("203.0.113.1").play_and_vote(tie)],
        "exempt": [Member("127.0.0.1").play_and_vote(tie)],
    }
    Vote.objects.filter(pk=told["yesterday"][0].pk).update(voted_at=timezone.now() - timedelta(days=1))
    return told


@pytest.fixture
def desk() -> Client:
    return logged_in(moderator())


def day(vote: Vote) -> str:
    return f"{vote.network}@{vote.voted_at:%Y-%m-%d}"


def listed(desk: Client, network: str) -> set[str]:
    page = desk.get(LIST, {"network": network})
    assert page.status_code == 200
    return {row.vote.vote_id for row in page.context["cl"].result_list}


def named(*votes: Vote) -> set[str]:
    return {vote.vote_id for vote in votes}


def act(desk: Client, action: str, votes: list[Vote], reason: str) -> str:
    chosen = {"action": action, "_selected_action": [vote.pk for vote in votes], "reason": reason}
    return desk.post(LIST, chosen, follow=True).content.decode()


def test_the_list_shows_a_networks_first_digits_that_lead_to_its_votes_of_that_day(
    votes: dict[str, list[Vote]], desk: Client
) -> None:
    page = desk.get(LIST).content.decode()
    one = votes["today"][0]
    assert f'<a href="{LIST}?network={day(one)}">{one.network[:8]}</a>' in page
    assert "It is no address" in page
    assert listed(desk, day(one)) == named(*votes["today"])
    assert listed(desk, one.network) == named(*votes["today"], *votes["yesterday"])
    assert listed(desk, "none") == named(*votes["exempt"])
    assert listed(desk, "known") == named(*votes["today"], *votes["yesterday"], *votes["elsewhere"])


def test_networks_are_told_with_their_visitors_per_day_most_first(votes: dict[str, list[Vote]], desk: Client) -> None:
    rows = desk.get(LIST).context["networks"]
    figures = [(row["votes"], row["visitors"], row["addresses"], row["excluded"]) for row in rows]
    assert figures == [(3, 3, 2, 0), (1, 1, 1, 0), (1, 1, 1, 0)]
    assert rows[0]["network"] == votes["today"][0].network
    of_one = desk.get(LIST, {"network": votes["elsewhere"][0].network}).context["networks"]
    assert [row["network"] for row in of_one] == [votes["elsewhere"][0].network]


def test_all_votes_of_a_network_on_a_day_leave_the_counts_and_come_back(
    votes: dict[str, list[Vote]], desk: Client
) -> None:
    one = votes["today"][:1]
    assert "Say why" in act(desk, "exclude_networks", one, " ")
    assert not CountedVote.objects.filter(excluded=True).exists()
    assert "3 votes excluded" in act(desk, "exclude_networks", one, "one person")
    excluded = CountedVote.objects.filter(excluded=True, counted=False)
    assert {row.vote.vote_id for row in excluded.select_related("vote")} == named(*votes["today"])
    logged = ModerationAct.objects.filter(action="exclude_vote")
    assert logged.count() == 3
    assert logged[0].reason == f"one person (network {one[0].network[:8]} on {one[0].voted_at:%Y-%m-%d})"
    assert desk.get(LIST).context["networks"][0]["excluded"] == 3
    assert "3 votes restored" in act(desk, "restore_networks", one, "a class after all")
    assert CountedVote.objects.filter(counted=True).count() == 6


def test_votes_without_a_network_are_no_network(votes: dict[str, list[Vote]], desk: Client) -> None:
    assert "0 votes excluded" in act(desk, "exclude_networks", votes["exempt"], "one person")


@pytest.mark.parametrize("nonsense", ["x", "0" * 24 + "@2026-02-30", "0" * 23, "0" * 24 + "@", "\0", "é" * 24])
def test_what_is_no_network_leads_to_the_whole_list(votes: dict[str, list[Vote]], desk: Client, nonsense: str) -> None:
    answer = desk.get(LIST, {"network": nonsense})
    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}?e=1")
