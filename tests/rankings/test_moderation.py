"""Moderators take votes and voters out and bring them back: with a reason, an entry in the audit log, new boards."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from arena.models import Vote
from rankings.models import CountedVote, ExcludedVoter, Finding, ModelStatsTotal, ModerationAct
from rankings.moderation import acts
from rankings.moderation.acts import By, NoReason
from rankings.publication import aggregation
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def votes() -> list[Vote]:
    """Six honest votes for a, four stuffed ones for b."""
    cast([*ballots(("a", "b", "left_better", 6, "honest")), *ballots(("b", "a", "left_better", 4, "stuffer"))])
    aggregation.aggregate()
    return list(Vote.objects.order_by("pk"))


def counts(policy: str) -> tuple[int, int]:
    """Wins and votes on the global board, as it would be published now."""
    aggregation.aggregate()
    row = ModelStatsTotal.objects.filter(model_id=policy).first()
    return (row.win_count, row.vote_count) if row else (0, 0)


def by(reason: str = "stuffed") -> By:
    user, _ = User.objects.get_or_create(username="mod")
    return By(user, reason)


def test_an_excluded_vote_leaves_the_boards_and_a_restored_one_comes_back(votes: list[Vote]) -> None:
    assert counts("b") == (4, 10)
    assert acts.exclude_votes(votes[-2:], by()) == 2
    assert counts("b") == (2, 8)
    assert acts.restore_votes(votes[-2:], by("a mistake")) == 2
    assert counts("b") == (4, 10)
    log = [(act.action, act.subject, act.reason, act.moderator_name) for act in ModerationAct.objects.order_by("pk")]
    assert log == [
        ("exclude_vote", votes[-2].vote_id, "stuffed", "mod"),
        ("exclude_vote", votes[-1].vote_id, "stuffed", "mod"),
        ("restore_vote", votes[-2].vote_id, "a mistake", "mod"),
        ("restore_vote", votes[-1].vote_id, "a mistake", "mod"),
    ]


def test_an_excluded_voter_takes_all_votes_along_future_ones_too(votes: list[Vote]) -> None:
    assert acts.exclude_voter("stuffer", by()) == 4
    cast(ballots(("b", "a", "left_better", 3, "stuffer")), start=50)
    assert counts("b") == (0, 6)
    assert acts.restore_voter("stuffer", by("appeal")) == 7
    assert counts("b") == (7, 13)
    log = ModerationAct.objects.order_by("pk").values_list("action", "subject", "votes")
    assert list(log) == [("exclude_voter", "stuffer", 4), ("restore_voter", "stuffer", 7)]


def test_doing_it_twice_changes_and_notes_nothing(votes: list[Vote]) -> None:
    acts.exclude_voter("stuffer", by())
    assert acts.exclude_voter("stuffer", by()) == 0
    acts.restore_voter("stuffer", by())
    assert acts.restore_voter("stuffer", by()) == 0
    assert acts.restore_votes(votes, by()) == 0
    assert ModerationAct.objects.count() == 2


def test_nothing_is_taken_without_a_reason(votes: list[Vote]) -> None:
    with pytest.raises(NoReason):
        acts.exclude_votes(votes, by("  "))
    assert CountedVote.objects.filter(counted=True).count() == 10


def test_what_was_found_about_a_voter_is_settled_with_the_voter_and_opened_again(votes: list[Vote]) -> None:
    finding = Finding.objects.create(kind="outlier", subject="stuffer", summary="always for b")
    acts.exclude_voter("stuffer", by())
    finding.refresh_from_db()
    assert finding.state == "acted"
    acts.restore_voter("stuffer", by())
    finding.refresh_from_db()
    assert finding.state == "open"


class Admin:
    """A moderator in front of a list."""

    def __init__(self, *permissions: str) -> None:
        self.client = Client()
        user = User.objects.create_user("moderator", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        self.client.force_login(user)

    def press(self, table: str, action: str, keys: list[Any], reason: str = "stuffed") -> str:
        answer = self.client.post(
            reverse(f"admin:rankings_{table}_changelist"),
            {"action": action, "_selected_action": keys, "reason": reason},
            follow=True,
        )
        return str(answer.content.decode())


ALLOWED = ("moderate_votes", "view_countedvote", "view_finding", "view_excludedvoter", "view_moderationact")


def test_the_admin_excludes_and_restores_votes_with_a_reason(votes: list[Vote]) -> None:
    admin = Admin(*ALLOWED)
    assert "2 votes excluded" in admin.press("countedvote", "exclude_votes", [votes[8].pk, votes[9].pk])
    assert counts("b") == (2, 8)
    assert "2 votes restored" in admin.press("countedvote", "restore_votes", [votes[8].pk, votes[9].pk], "appeal")
    assert counts("b") == (4, 10)
    assert ModerationAct.objects.filter(moderator_name="moderator").count() == 4


def test_the_admin_excludes_the_voters_of_votes_and_of_findings_and_restores_them(votes: list[Vote]) -> None:
    admin = Admin(*ALLOWED)
    assert "4 votes no longer count" in admin.press("countedvote", "exclude_voters", [votes[9].pk])
    assert "stuffed (moderator" in admin.client.get(reverse("admin:rankings_excludedvoter_changelist")).content.decode()
    assert "4 votes count again" in admin.press("excludedvoter", "restore", ["stuffer"], "appeal")
    finding = Finding.objects.create(kind="outlier", subject="stuffer", summary="always for b")
    assert "4 votes no longer count" in admin.press("finding", "exclude_voters", [finding.pk])
    assert ExcludedVoter.objects.get().voter == "stuffer"


def test_a_finding_about_a_policy_excludes_nobody(votes: list[Vote]) -> None:
    finding = Finding.objects.create(kind="shadow", subject="honest", summary="moved")
    assert "0 votes no longer count" in Admin(*ALLOWED).press("finding", "exclude_voters", [finding.pk])
    assert not ExcludedVoter.objects.exists()


def test_a_dismissed_finding_stays_in_the_list_and_in_the_log() -> None:
    finding = Finding.objects.create(kind="outlier", subject="someone", summary="always for b")
    assert "1 dismissed" in Admin(*ALLOWED).press("finding", "dismiss", [finding.pk], "a fan, not a bot")
    finding.refresh_from_db()
    assert finding.state == "dismissed"
    assert ModerationAct.objects.get().reason == "a fan, not a bot"


def test_the_admin_asks_for_a_reason(votes: list[Vote]) -> None:
    assert "Say why" in Admin(*ALLOWED).press("countedvote", "exclude_votes", [votes[9].pk], "")
    assert not ModerationAct.objects.exists()


def test_staff_without_the_permission_to_moderate_cannot(votes: list[Vote]) -> None:
    admin = Admin("view_countedvote")
    admin.press("countedvote", "exclude_votes", [votes[9].pk])
    assert CountedVote.objects.filter(counted=False).count() == 0
    assert not ModerationAct.objects.exists()


def test_nobody_edits_the_audit_log() -> None:
    act = ModerationAct.objects.create(action="dismiss", subject="x", reason="y")
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    assert client.get(reverse("admin:rankings_moderationact_changelist")).status_code == 200
    assert client.get(reverse("admin:rankings_moderationact_add")).status_code == 403
    assert (
        client.post(reverse("admin:rankings_moderationact_delete", args=[act.pk]), {"post": "yes"}).status_code == 403
    )
    assert ModerationAct.objects.get().reason == "y"
