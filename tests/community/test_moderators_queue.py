"""The queue of reports: open ones first, the oldest of them first, and an act with one click, which is logged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from arena.models import Battle, Turn
from community import comments, reports
from community.models import Comment, Report
from community.reports import Resolution, Target
from rankings.models import ModerationAct
from tests.factories import VoteFactory
from tests.people import logged_in, moderator, operator

QUEUE = "/admin/community/report/"


def filed(target: Target, reporter: str = "somebody", hours_ago: int = 0) -> Report:
    report = reports.file(target, "abuse", "look at it", reporter)
    Report.objects.filter(pk=report.pk).update(created_at=timezone.now() - timedelta(hours=hours_ago))
    return report


def act(client: Client, row: Report | Comment, wanted: str) -> Any:
    return client.post(f"/admin/community/{row._meta.model_name}/{row.pk}/act/", {"act": wanted})


def state_of(report: Report) -> str:
    return str(Report.objects.get(pk=report.pk).state)


def test_open_reports_come_first_and_the_oldest_of_them_first(battle: Battle) -> None:
    staff = moderator()
    new, old = filed(Target(battle), "a", 1), filed(Target(battle), "b", 9)
    closed = filed(Target(battle), "c", 99)
    reports.resolve(closed, Resolution.DISMISS, staff)
    listed = logged_in(staff).get(QUEUE).context["cl"].result_list
    assert list(listed) == [old, new, closed]


def test_a_reported_battle_is_hidden_with_one_click(battle: Battle, turn: Turn) -> None:
    whole, instruction = filed(Target(battle)), filed(Target(battle, turn), "another")
    client = logged_in(moderator())
    page = client.get(QUEUE).content.decode()
    assert f'formaction="{QUEUE}{whole.pk}/act/" name="act" value="hide_battle"' in page
    assert f'href="/b/{battle.battle_id}"' in page
    assert act(client, whole, "hide_battle")["Location"] == QUEUE
    assert Client().get(f"/b/{battle.battle_id}").status_code == 410
    assert (state_of(whole), state_of(instruction)) == ("upheld", "upheld")
    assert ModerationAct.objects.get().reason == "reported as abuse: look at it"
    assert Report.objects.get(pk=whole.pk).resolved_by == User.objects.get(username="moderator")


def test_a_reported_instruction_is_hidden_and_the_battle_stays(battle: Battle, turn: Turn) -> None:
    report, about_the_whole = filed(Target(battle, turn)), filed(Target(battle), "another")
    act(logged_in(moderator()), report, "hide_instruction")
    assert Client().get(f"/api/shared/{battle.battle_id}").json()["turns"][0]["instruction"] != turn.instruction
    assert (state_of(report), state_of(about_the_whole)) == ("upheld", "open")


def test_a_reported_comment_is_hidden(battle: Battle, author: User) -> None:
    comment = comments.write(battle, author, "rude words")
    report = filed(Target(battle, comment=comment))
    act(logged_in(moderator()), report, "hide_comment")
    comment.refresh_from_db()
    assert (comment.state, state_of(report)) == ("hidden", "upheld")


def test_a_dismissed_report_changes_nothing_but_itself(battle: Battle) -> None:
    report, other = filed(Target(battle)), filed(Target(battle), "another")
    act(logged_in(moderator()), report, "dismiss")
    assert (state_of(report), state_of(other)) == ("dismissed", "open")
    assert Client().get(f"/b/{battle.battle_id}").status_code == 200
    assert ModerationAct.objects.get().action == "dismiss_report"


def test_what_is_resolved_stays_so(battle: Battle) -> None:
    report, client = filed(Target(battle)), logged_in(moderator())
    act(client, report, "dismiss")
    act(client, report, "hide_battle")
    assert state_of(report) == "dismissed"
    assert Client().get(f"/b/{battle.battle_id}").status_code == 200
    assert f"{report.pk}/act/" not in client.get(QUEUE).content.decode()


@pytest.mark.parametrize("wanted", ["hide_instruction", "hide_comment", "nonsense", ""])
def test_an_act_that_does_not_fit_the_report_does_nothing(battle: Battle, wanted: str) -> None:
    report = filed(Target(battle))
    assert act(logged_in(moderator()), report, wanted).status_code == 302
    assert state_of(report) == "open"
    assert not ModerationAct.objects.exists()


def test_nobody_but_a_moderator_acts(battle: Battle, author: User) -> None:
    report, comment = filed(Target(battle)), comments.write(battle, author, "hello")
    for client in (Client(), logged_in(author), logged_in(operator())):
        assert act(client, report, "hide_battle").status_code in (302, 403)
        assert act(client, comment, "public").status_code in (302, 403)
    assert state_of(report) == "open"
    comment.refresh_from_db()
    assert comment.state == "pending"


def test_the_queue_names_no_model(battle: Battle) -> None:
    report, client = filed(Target(battle)), logged_in(moderator())
    for address in (QUEUE, f"{QUEUE}{report.pk}/change/"):
        page = client.get(address).content.decode()
        assert not any(model.id in page or model.name in page for model in (battle.left_model, battle.right_model))


def test_comments_are_published_and_hidden_with_one_click(battle: Battle, author: User, comments_on: None) -> None:
    comment, client = comments.write(battle, author, "well done"), logged_in(moderator())
    report = filed(Target(battle, comment=comment))
    assert 'value="public"' in client.get("/admin/community/comment/").content.decode()
    act(client, comment, "public")
    assert "well done" in Client().get(f"/b/{battle.battle_id}").content.decode()
    act(client, comment, "hidden")
    assert "well done" not in Client().get(f"/b/{battle.battle_id}").content.decode()
    assert state_of(report) == "upheld"
    assert list(ModerationAct.objects.order_by("pk").values_list("action", flat=True)) == [
        "show_comment",
        "hide_comment",
    ]


def test_a_search_finds_a_report_by_its_battle(battle: Battle) -> None:
    mine, _ = filed(Target(battle)), filed(Target(VoteFactory().battle))
    found = logged_in(moderator()).get(QUEUE, {"q": battle.battle_id}).context["cl"].result_list
    assert list(found) == [mine]
