"""Moderators run the registry here: edit, activate, retire with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest

from policies.models import Policy

if TYPE_CHECKING:
    PolicyAdminBase = admin.ModelAdmin[Policy]
else:
    PolicyAdminBase = admin.ModelAdmin


class ReasonForm(ActionForm):
    """The list's action box, with room for a reason."""

    reason = forms.CharField(
        required=False, max_length=500, widget=forms.TextInput(attrs={"placeholder": "reason, for retiring"})
    )


@admin.register(Policy)
class PolicyAdmin(PolicyAdminBase):
    action_form = ReasonForm
    actions = ["activate", "retire"]
    list_display = ["name", "id", "family", "status", "status_reason", "reference", "pairing_weight", "organization"]
    list_filter = ["status", "reference", "family", "organization"]
    search_fields = ["id", "name", "organization", "provenance"]
    readonly_fields = ["card", "revision", "created_at"]
    fieldsets = [
        (None, {"fields": ["id", "name", "description", "organization", "license", "provenance"]}),
        ("Playing", {"fields": ["status", "status_reason", "reference", "pairing_weight"]}),
        ("Opening", {"fields": ["family", "adapter", "model_path", "revision", "card", "created_at"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Policy | None = None) -> list[str]:
        """The key of a registered policy stays: votes and ranks refer to it."""
        return [*self.readonly_fields, "id"] if obj else list(self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Policy | None = None) -> bool:
        """Nobody is deleted: a policy that should play no more is retired."""
        return False

    @admin.action(description="Activate", permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:
        for policy in queryset:
            policy.activate()
            self.log_change(request, policy, "Activated")
        self.message_user(request, f"{len(queryset)} active", messages.SUCCESS)

    @admin.action(description="Retire, with a reason", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:
        reason = request.POST.get("reason", "").strip()
        if not reason:
            self.message_user(request, "Say why in the box beside the action, then retire again", messages.ERROR)
            return
        for policy in queryset:
            policy.retire(reason)
            self.log_change(request, policy, f"Retired: {reason}")
        self.message_user(request, f"{len(queryset)} retired", messages.SUCCESS)
