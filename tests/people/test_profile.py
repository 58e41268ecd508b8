"""The profile: one's votes with what physics says about them, and the board of these votes alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from arena.models import Attempt, Vote, VoteChoice
from people.history import FEW, ON_A_PAGE, VotedBattle, history, personal_board
from tests.factories import BattleFactory, PolicyFactory, SessionFactory, VoteFactory
from tests.people.conftest import Person, account_of

ME = "11111111-1111-4111-8111-111111111111"
pytestmark = pytest.mark.django_db


def vote(choice: str = VoteChoice.LEFT_BETTER, **models: Any) -> Vote:
    battle = BattleFactory(session=SessionFactory(user_id=ME), status="voted", **models)
    made: Vote = VoteFactory(battle=battle, vote=choice)
    return made


def only_row() -> VotedBattle:
    [row] = history(ME, None).object_list
    return row


@pytest.mark.parametrize(
    ("left", "right", "choice", "physics", "agrees"),
    [
        (True, False, "left_better", "only left reached the goal", True),
        (True, False, "right_better", "only left reached the goal", False),
        (False, True, "right_better", "only right reached the goal", True),
        (False, False, "both_bad", "neither reached the goal", True),
        (True, True, "tie", "both reached the goal", True),
        (True, True, "left_better", "both reached the goal", False),
        (None, True, "left_better", None, None),
    ],
)
def test_a_vote_stands_beside_what_physics_says(
    left: bool | None, right: bool | None, choice: str, physics: str | None, agrees: bool | None
) -> None:
    vote(choice)
    Attempt.objects.filter(side="left").update(success=left)
    Attempt.objects.filter(side="right").update(success=right)
    row = only_row()
    assert (row.physics and str(row.physics), row.agrees) == (physics, agrees)


def test_votes_are_paged_newest_first(django_assert_max_num_queries: Any) -> None:
    votes = [vote() for _ in range(ON_A_PAGE + 3)]
    with django_assert_max_num_queries(4):
        first = history(ME, None)
        shown = [row.vote.pk for row in first.object_list]
    assert shown == [each.pk for each in reversed(votes)][:ON_A_PAGE]
    assert len(history(ME, "2").object_list) == 3
    assert history(ME, "nonsense").number == 1
    assert history(ME, "99").number == 2


def test_a_profile_shows_nobody_elses_votes(person: Person) -> None:
    vote()
    person.sign_up()
    assert "None yet." in person.page("/profile/").content.decode()
    assert history(account_of(person).visitor, None).object_list == []


def test_a_board_counts_each_model_from_its_own_side() -> None:
    alpha, beta = PolicyFactory(id="alpha"), PolicyFactory(id="beta")
    for choice in ("left_better", "left_better", "tie", "both_bad"):
        vote(choice, left_model=alpha, right_model=beta)
    vote("left_better", left_model=beta, right_model=alpha)
    board = personal_board(ME)
    assert (board.votes, board.few) == (5, True)
    assert [(row.model_id, row.won, row.lost, row.tied, row.both_bad) for row in board.rows] == [
        ("alpha", 2, 1, 1, 1),
        ("beta", 1, 2, 1, 1),
    ]
    assert {row.points for row in board.rows} == {None}


def test_a_board_of_many_votes_has_points_with_their_uncertainty() -> None:
    alpha, beta = PolicyFactory(id="alpha"), PolicyFactory(id="beta")
    for number in range(FEW):
        vote("left_better" if number % 3 else "right_better", left_model=alpha, right_model=beta)
    best, other = personal_board(ME).rows
    assert best.model_id == "alpha"
    assert (best.points or 0) > (other.points or 0) > 0
    assert (best.half_width or 0) > 0


def test_the_page_needs_at_most_ten_queries(person: Person, django_assert_max_num_queries: Any) -> None:
    person.sign_up()
    for _ in range(5):
        vote()
    Vote.objects.update(user_id=account_of(person).visitor)
    with django_assert_max_num_queries(10):
        assert person.client.get("/profile/").content.decode().count("<li>") >= 5


def test_a_display_name_is_one_line_of_printable_characters(person: Person) -> None:
    person.sign_up()
    person.page("/profile/", display_name="  Ada \t Lovelace ")
    assert account_of(person).display_name == "Ada Lovelace"
    refused = person.client.post("/profile/", {"display_name": "Ada\u202eecalevoL"})
    assert refused.status_code == 422
    assert account_of(person).display_name == "Ada Lovelace"
    assert "<script>" not in person.page("/profile/", display_name="<script>").content.decode()


def test_the_box_for_instructions_says_that_they_may_be_published() -> None:
    page = Client().get("/battle").content.decode()
    assert "What you type may be published with the battle." in page
    assert 'href="/privacy/"' in page


def test_the_privacy_page_says_how_long_and_whom_to_ask(settings: Any) -> None:
    settings.UNVOTED_DAYS, settings.NETWORK_DAYS, settings.CONTACT = 12, 34, "privacy@example.org"
    page = Client().get("/privacy/").content.decode()
    assert "deleted after 12 days" in page
    assert "destroyed after 34 days" in page
    assert 'href="mailto:privacy@example.org"' in page
