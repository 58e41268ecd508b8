"""Submitted policies in the admin: moderators approve or refuse them."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from arena.audit import REASON_LENGTH
from arena.blind_admin import ModelAdminBase
from arena.errors import ArenaError
from robots import submissions
from robots.models import Submission

DECIDE = "robots.decide_submission"


class WithReason(ActionForm):
    reason = forms.CharField(required=False, max_length=REASON_LENGTH, label="Reason (for a refusal)")


@admin.register(Submission)
class SubmissionAdmin(ModelAdminBase):
    """Rows are decided on by the list's actions, and otherwise only looked at."""

    list_display = ["model_id", "name", "organization", "license", "url", "folder", "contact", "state", "outcome"]
    list_filter = ["state"]
    search_fields = ["model_id", "name", "organization"]
    ordering = ["-created_at"]
    actions = ["approve", "refuse"]
    action_form = WithReason

    @admin.display(description="trial")
    def outcome(self, row: Submission) -> str:
        if row.trial is None:
            told = f"fetch it, then: manage.py add_policy {row.model_id} --weights FOLDER"
            return told if row.state == Submission.State.APPROVED else ""
        return row.trial.outcome or "a worker tries it"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        return cast("QuerySet[Submission]", super().get_queryset(request)).select_related("trial")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Submission | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Submission | None = None) -> bool:
        return False

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(DECIDE))

    @admin.action(description="Approve: a worker tries it", permissions=["decide"])
    def approve(self, request: HttpRequest, rows: QuerySet[Submission]) -> None:
        self._each(request, rows, lambda row, moderator: submissions.approve(row, moderator), "approved")

    @admin.action(description="Refuse, with the reason above", permissions=["decide"])
    def refuse(self, request: HttpRequest, rows: QuerySet[Submission]) -> None:
        why = request.POST.get("reason", "")
        self._each(request, rows, lambda row, moderator: submissions.refuse(row, moderator, why), "refused")

    def _each(self, request: HttpRequest, rows: QuerySet[Submission], act: Any, done: str) -> None:
        for row in rows:
            try:
                act(row, cast(User, request.user))
            except ArenaError as refusal:
                self.message_user(request, f"Submission {row.model_id}: {refusal}", messages.ERROR)
            else:
                self.message_user(request, f"Submission {row.model_id}: {done}", messages.SUCCESS)
