"""The registry's admin pages: edit, activate, retire with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from arena.audit import REASON_LENGTH, Act, clean_reason, tell
from arena.errors import ReasonMissing
from arena.models import ContestantStatus
from policies.models import Policy

if TYPE_CHECKING:
    PolicyAdminBase = admin.ModelAdmin[Policy]
    ModelFormBase = forms.ModelForm[Policy]
else:
    PolicyAdminBase = admin.ModelAdmin
    ModelFormBase = forms.ModelForm

ACTS: dict[str, Act] = {ContestantStatus.RETIRED: Act.RETIRE, ContestantStatus.ACTIVE: Act.ACTIVATE}


class RetirementForm(ActionForm):
    """The list's action box, with room for a reason."""

    reason = forms.CharField(
        required=False,
        max_length=REASON_LENGTH,
        label="Reason for retiring (this reason is public)",
        widget=forms.TextInput(attrs={"placeholder": "shown on the model's page", "size": 40}),
    )


class PolicyForm(ModelFormBase):
    """Retiring needs its reason here as well."""

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        retired = self.cleaned_data.get("status") == ContestantStatus.RETIRED
        if retired and not self.cleaned_data.get("status_reason", "").strip():
            self.add_error("status_reason", "Say why it is retired. This reason is public.")
        return cleaned


@admin.register(Policy)
class PolicyAdmin(PolicyAdminBase):
    action_form = RetirementForm
    form = PolicyForm
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
        found = policy.success
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

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name == "status_reason":
            field.help_text = "Why it is unavailable or retired. This reason is public: it stands on the model's page."
        return field

    def save_model(self, request: HttpRequest, obj: Policy, form: Any, change: bool) -> None:
        """A change of the status by hand is in the audit log, too."""
        super().save_model(request, obj, form, change)
        act = ACTS.get(obj.status)
        if change and act is not None and "status" in form.changed_data:
            tell(act, obj.pk, obj.status_reason, cast(User, request.user))

    @admin.action(description="Activate", permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:
        for policy in queryset:
            with transaction.atomic():
                policy.activate()
                self._log(request, policy, Act.ACTIVATE, "")
        self.message_user(request, f"{len(queryset)} active", messages.SUCCESS)

    @admin.action(description="Retire, with a public reason", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Policy]) -> None:
        try:
            reason = clean_reason(request.POST.get("reason", ""))
        except ReasonMissing:
            self.message_user(request, "Say why in the box beside the action, then retire again", messages.ERROR)
            return
        for policy in queryset:
            with transaction.atomic():
                policy.retire(reason)
                self._log(request, policy, Act.RETIRE, reason)
        said = f"{len(queryset)} retired. The reason is public on the model's page: {reason}"
        self.message_user(request, said, messages.SUCCESS)

    def _log(self, request: HttpRequest, policy: Policy, act: Act, reason: str) -> None:
        """In the policy's history, and in the audit log."""
        self.log_change(request, policy, f"{act.value.capitalize()}d: {reason}" if reason else "Activated")
        tell(act, policy.pk, reason, cast(User, request.user))
