"""The rankings in the admin: to read, and one button."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rankings.models import ModelStatsTotal, ModerationAct, WorkerStatus
from rankings.publication import aggregation
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

RUN = "/admin/rankings/workerstatus/run/"
LIST = "/admin/rankings/workerstatus/"


def moderator(*permissions: str) -> Client:
    user = User.objects.create_user("moderator", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_the_button_aggregates_and_says_what_was_done() -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    client = moderator("view_workerstatus", "run_aggregation")
    assert "Run aggregation now" in client.get(LIST).content.decode()
    page = client.post(RUN, follow=True)
    assert "7 votes processed, 0 failed, 4 rows of the boards changed." in page.content.decode()
    assert ModelStatsTotal.objects.get(model_id="a").win_count == 7


def test_within_the_hour_the_button_says_when_and_takes_a_reason_to_publish_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    half_past = timezone.now().replace(minute=30)
    monkeypatch.setattr(timezone, "now", lambda: half_past)
    cast(ballots(("a", "b", "left_better", 7)))
    aggregation.aggregate()
    client = moderator("view_workerstatus", "run_aggregation")
    assert "The next are due at" in client.post(RUN, follow=True).content.decode()
    assert "Say why" in client.post(RUN, {"force": "1", "reason": ""}, follow=True).content.decode()
    page = client.post(RUN, {"force": "1", "reason": "stuffed votes"}, follow=True)
    assert "0 votes processed" in page.content.decode()
    assert ModerationAct.objects.get().reason == "stuffed votes"


def test_the_address_of_the_button_answers_posts_only() -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    assert moderator("view_workerstatus", "run_aggregation").get(RUN).status_code == 405
    assert not ModelStatsTotal.objects.exists()


def test_staff_without_the_permission_see_no_button_and_cannot_run() -> None:
    client = moderator("view_workerstatus")
    assert "Run aggregation now" not in client.get(LIST).content.decode()
    assert client.post(RUN).status_code == 403
    assert not WorkerStatus.objects.exists()


def test_who_is_not_logged_in_is_sent_to_the_login(client: Client) -> None:
    answer = client.post(RUN)
    assert answer.status_code == 302
    assert "login" in answer["Location"]


def test_another_sites_page_cannot_press_the_button() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    assert client.post(RUN).status_code == 403


def test_a_run_that_breaks_is_told_to_the_moderator(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(aggregation, "_store", breaks)
    page = moderator("view_workerstatus", "run_aggregation").post(RUN, follow=True)
    assert "The aggregation failed: the disk is full" in page.content.decode()


@pytest.mark.parametrize("table", ["modelstatstotal", "modelstatsbyrobot", "workerstatus"])
def test_nobody_adds_changes_or_deletes_a_row_by_hand(table: str) -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    aggregation.aggregate()
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(reverse(f"admin:rankings_{table}_changelist")).status_code == 200
    assert client.get(reverse(f"admin:rankings_{table}_add")).status_code == 403
    key = ModelStatsTotal.objects.values_list("pk", flat=True)[0] if table == "modelstatstotal" else None
    if key:
        assert client.post(reverse(f"admin:rankings_{table}_delete", args=[key]), {"post": "yes"}).status_code == 403
        assert client.post(reverse(f"admin:rankings_{table}_change", args=[key]), {"elo_score": 1}).status_code == 403
    assert ModelStatsTotal.objects.filter(model_id="a", vote_count=7).exists()
