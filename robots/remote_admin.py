"""Entering remote policies in the admin: an operator names a server, and a worker tries it."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from arena.blind_admin import ModelAdminBase
from arena.errors import QueueUnavailable
from robots import remote_trials
from robots.models import RemoteTrial


@admin.register(RemoteTrial)
class RemoteTrialAdmin(ModelAdminBase):
    """Rows are made and looked at. Another try is another row."""

    list_display = ["model_id", "url", "state", "outcome", "asked_by", "asked_at"]
    search_fields = ["model_id", "url"]
    ordering = ["-asked_at"]
    actions = None
    fields = ["model_id", "url", "key_variable", "contract"]

    @admin.display(description="State")
    def state(self, row: RemoteTrial) -> str:
        if row.done_at is None:
            return "a worker tries it" if remote_trials.is_awaited(row) else "no worker took it: try again"
        return "entered" if row.entered else "refused"

    def get_fields(self, request: HttpRequest, obj: RemoteTrial | None = None) -> Any:
        return [*self.fields, "state", "outcome", "asked_by", "asked_at", "done_at"] if obj else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: RemoteTrial | None = None) -> list[str]:
        return [*map(str, self.get_fields(request, obj))] if obj else []

    def has_change_permission(self, request: HttpRequest, obj: RemoteTrial | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: RemoteTrial | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[RemoteTrial]:
        return cast("QuerySet[RemoteTrial]", super().get_queryset(request)).select_related("asked_by")

    def save_model(self, request: HttpRequest, obj: RemoteTrial, form: Any, change: bool) -> None:
        obj.asked_by = cast(User, request.user)
        try:
            remote_trials.ask(obj)
        except QueueUnavailable as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
