"""API tokens in the admin: staff make and revoke their own; superusers may revoke anybody's."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from arena.blind_admin import ModelAdminBase
from people import tokens
from people.models import Token

SHOWN = ("name", "hint", "user", "scopes", "created_at", "last_used_at", "revoked_at")


class StaffTokenForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Token
        fields = ("name",)


@admin.register(Token)
class TokenAdmin(ModelAdminBase):
    """A token that is made here has the scope `staff`: the rights of who makes it."""

    list_display = SHOWN
    search_fields = ["name", "hint"]
    ordering = ["-created_at"]
    actions = ["revoke"]
    form = StaffTokenForm

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        rows = cast("QuerySet[Token]", super().get_queryset(request)).select_related("user")
        return rows if cast(User, request.user).is_superuser else rows.filter(user=cast(User, request.user))

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> list[str]:
        return [*SHOWN] if obj else []

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        return SHOWN if obj else ["name"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and tokens.live(cast(User, request.user)).count() < tokens.MOST

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        made, text = tokens.issue(cast(User, request.user), obj.name, [tokens.STAFF])
        obj.pk, obj.hint, obj.user = made.pk, made.hint, made.user
        self.message_user(request, f"Copy it now, it is not kept: {text}", messages.WARNING)

    @admin.action(description="Revoke", permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            tokens.revoke(token)
        self.message_user(request, f"{len(queryset)} revoked")
