"""What a visitor wrote about battles is in their own data, and goes with it."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User

from arena.models import Feedback
from community import reports
from community.models import Comment, Report
from community.reports import Target
from people import own_data
from people.own_data import Owner
from tests.factories import SessionFactory, VoteFactory

pytestmark = pytest.mark.django_db

VISITOR = "visitor-who-writes"


def write_all(owner: Owner) -> None:
    """Feedback on an own battle, and a comment and a report on somebody else's."""
    own = VoteFactory(battle__session=SessionFactory(user_id=owner.visitor)).battle
    others = VoteFactory().battle
    Feedback.objects.create(battle=own, why="It went straight there", left_progress=80)
    Comment.objects.create(battle=others, author=owner.user, text="A fine grasp")
    reports.file(Target(others), "spam", "Nothing but advertising", reports.reporter_of(owner.visitor))


@pytest.fixture
def owner() -> Owner:
    user = User.objects.create_user("writer")
    owner = Owner(VISITOR, user)
    write_all(owner)
    return owner


def test_the_copy_of_own_data_has_feedback_comments_and_reports(owner: Owner) -> None:
    copy = json.loads("".join(own_data.export(owner)))
    assert [row["why"] for row in copy["feedback"]] == ["It went straight there"]
    assert [row["text"] for row in copy["comments"]] == ["A fine grasp"]
    assert [row["text"] for row in copy["reports"]] == ["Nothing but advertising"]


def test_the_copy_has_nothing_that_others_wrote(owner: Owner) -> None:
    copy = json.loads("".join(own_data.export(Owner("somebody-else", User.objects.create_user("reader")))))
    assert copy["feedback"] == copy["comments"] == copy["reports"] == []


def test_forgetting_deletes_feedback_and_comments_and_takes_the_words_from_reports(owner: Owner) -> None:
    own_data.forget(owner)
    assert not Feedback.objects.exists()
    assert not Comment.objects.exists()
    report = Report.objects.get()
    assert report.text == ""
    assert report.reporter != reports.reporter_of(VISITOR)
