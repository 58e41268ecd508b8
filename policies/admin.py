"""The registry's admin pages: edit, activate, retire with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest

from policies.measured import overall
from policies.models import Policy

if TYPE_CHECKING:
    PolicyAdminBase = admin.ModelAdmin[Policy]
else:
    PolicyAdminBase = admin.ModelAdmin


class RetirementForm(ActionForm):
    """The list's action box, with room for a reason."""

    reason = forms.CharField(
        required=False, max_length=500, widget=forms.TextInput(attrs={"placeholder": "reason, for retiring"})
    )


@admin.register(Policy)
class PolicyAdmin(PolicyAdminBase):
    action_form = RetirementForm
    actions = ["activate", "retire"]
    list_display = [
        *("name", "id", "family", "parameters", "success", "status", "status_reason", "reference", "pairing_weight"),
        *("organization", "license"),
    ]
    list_filter = ["status", "reference", "family", "organization"]
    search_fields = ["id", "name", "organization", "provenance"]
    readonly_fields = ["card", "revision", "created_at", "success", "workers"]
    fieldsets = [
        (None, {"fields": ["id", "name", "description", "organization", "license", "provenance"]}),
        ("Facts", {"fields": ["training_data", "source", "parameters", "weights_bytes", "success"]}),
        ("Playing", {"fields": ["status", "status_reason", "reference", "pairing_weight"]}),
        (
            "Opening",
            {"fields": ["family", "adapter", "model_path", "statistics_key", "revision", "card", "created_at"]},
        ),
    ]

    @admin.display(description="Measured success")
    def success(self, policy: Policy) -> str:
        """Over all tasks, with the 95 % Wilson interval."""
        found = overall(policy.card)
        return f"{found['rate']:.1%} [{found['low']:.1%}, {found['high']:.1%}] of {found['episodes']}" if found else "-"

    @admin.display(description="Workers that host it")
    def workers(self, policy: Policy) -> str:
        """Those that announced it within the last seconds."""
        found = [f"{each.worker}: {each.trouble or each.device or 'cpu'}" for each in policy.hostings.all().live()]
        return "\n".join(found) or "none"

    def get_readonly_fields(self, request: HttpRequest, obj: Policy | None = None) -> list[str]:
        """A registered policy keeps its key, which votes and rankings refer to."""
        return [*self.readonly_fields, "id"] if obj else list(self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: Policy | None = None) -> bool:
        """Policies are never deleted: one that should play no more is retired."""
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
