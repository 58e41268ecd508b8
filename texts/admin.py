"""The admin pages of language models: enter, edit, activate, retire with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from arena.audit import Act, tell
from arena.models import ContestantStatus
from texts.models import LanguageModel

if TYPE_CHECKING:
    LanguageModelAdminBase = admin.ModelAdmin[LanguageModel]
else:
    LanguageModelAdminBase = admin.ModelAdmin

ACTS: dict[str, Act] = {ContestantStatus.RETIRED: Act.RETIRE, ContestantStatus.ACTIVE: Act.ACTIVATE}


@admin.register(LanguageModel)
class LanguageModelAdmin(LanguageModelAdminBase):
    actions = ["activate"]
    list_display = ["name", "id", "base_url", "served_name", "status", "status_reason", "organization", "license"]
    list_filter = ["status", "organization"]
    search_fields = ["id", "name", "organization", "served_name"]
    readonly_fields = ["created_at"]
    fieldsets = [
        (None, {"fields": ["id", "name", "description", "organization", "family", "license", "provenance"]}),
        ("Server", {"fields": ["base_url", "key_variable", "served_name"]}),
        ("Answers", {"fields": ["system_prompt", "temperature", "top_p", "max_tokens", "extra_body"]}),
        ("Prices", {"fields": ["prompt_price", "answer_price"]}),
        ("Playing", {"fields": ["status", "status_reason", "reference", "pairing_weight", "created_at"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: LanguageModel | None = None) -> list[str]:
        """A registered model keeps its key, which votes and rankings refer to."""
        return [*self.readonly_fields, "id"] if obj else list(self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: LanguageModel | None = None) -> bool:
        """Contestants are never deleted: one that should play no more is retired."""
        return False

    def save_model(self, request: HttpRequest, obj: LanguageModel, form: object, change: bool) -> None:
        """A change of the status by hand is in the audit log, too."""
        super().save_model(request, obj, form, change)
        act = ACTS.get(obj.status)
        if change and act is not None and "status" in getattr(form, "changed_data", ()):
            tell(act, obj.pk, obj.status_reason, cast(User, request.user))

    @admin.action(description="Activate", permissions=["change"])
    def activate(self, request: HttpRequest, queryset: QuerySet[LanguageModel]) -> None:
        for model in queryset:
            with transaction.atomic():
                model.activate()
                self.log_change(request, model, "Activated")
                tell(Act.ACTIVATE, model.pk, "", cast(User, request.user))
        self.message_user(request, f"{len(queryset)} active", messages.SUCCESS)
