"""The admin of sessions, battles, turns, attempts and votes. Moderators may view and retry; nothing is edited.

They are as blind as visitors until the vote (`arena.blind_admin`). Revealing the names spoils the battle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arena import actions
from arena.actions import hiding
from arena.actions.reveal import reveal_names
from arena.blind_admin import (
    BlindAdmin,
    EndOfRollout,
    ModelAdminBase,
    ModelOfBattle,
    ModelOfRollout,
    TurnFailed,
    state_told,
    unless_hidden,
)
from arena.errors import AlreadyVoted, ArenaError, NotRetryable
from arena.hiding_admin import HidingAdmin
from arena.models import Attempt, AttemptStatus, Battle, Feedback, Session, Turn, Vote

if TYPE_CHECKING:
    TabularInlineBase = admin.TabularInline[Any, Any]
else:
    TabularInlineBase = admin.TabularInline

REVEAL = "arena.reveal_names"


class ReadOnly:
    """Records that nobody adds, edits or deletes by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class WithReplay(ReadOnly):
    readonly_fields: ClassVar[Any] = ["replay"]

    @admin.display(description="replay")
    def replay(self, row: Battle | Turn | Attempt | Vote | Feedback) -> SafeString:
        """A link to the battle's page as its visitor sees it. Staff who may view all battles may open any there."""
        held = row.turn if isinstance(row, Attempt) else row
        query = f"?turn={held.turn_id}" if isinstance(held, Turn) else ""
        return format_html('<a href="/battle/{}{}">replay</a>', held.battle_id, query)


BOTH_MODELS = (unless_hidden("left_model"), unless_hidden("right_model"))
OF_A_BATTLE: list[Any] = ["battle_id", "seq_in_session", *BOTH_MODELS, "starts", "status", "spoiled", "created_at"]
OF_A_TURN: list[Any] = [
    *("turn_id", "seq", "instruction", "start", "is_fork"),
    *(state_told, unless_hidden("settled_at")),
]
OF_A_SIDE: list[Any] = [
    *("episode_id", "side"),
    *(unless_hidden("model"), state_told, unless_hidden("tries"), unless_hidden("length")),
    *(unless_hidden("success"), unless_hidden("termination_reason")),
]


class BattleInline(ReadOnly, TabularInlineBase):
    model = Battle
    readonly_fields = OF_A_BATTLE
    fields = OF_A_BATTLE
    ordering = ["seq_in_session"]
    show_change_link = True


class TurnInline(ReadOnly, TabularInlineBase):
    model = Turn
    readonly_fields = OF_A_TURN
    fields = OF_A_TURN
    ordering = ["seq"]
    show_change_link = True


class RolloutInline(ReadOnly, TabularInlineBase):
    model = Attempt
    readonly_fields = OF_A_SIDE
    fields = OF_A_SIDE
    show_change_link = True


@admin.register(Session)
class SessionAdmin(ReadOnly, ModelAdminBase):
    list_display = ["session_id", "kind", "setting", "scene", "user_id", "created_at", "last_active_at"]
    list_filter = ["kind", "setting", "scene", "last_active_at"]
    search_fields = ["session_id", "user_id"]
    inlines = [BattleInline]


class RevealForm(forms.Form):
    reason = forms.CharField(max_length=500, widget=forms.TextInput(attrs={"size": 60}))


@admin.register(Battle)
class BattleAdmin(HidingAdmin, WithReplay, BlindAdmin):
    hidden_field, hidden_thing = "hidden_at", "battle"
    hide, show = staticmethod(hiding.hide_battle), staticmethod(hiding.show_battle)
    list_display = [
        *("battle_id", "status", *BOTH_MODELS, "spoiled", "hidden_at", "starts", "seq_in_session"),
        *("created_at", "replay"),
    ]
    list_filter = [
        "status",
        "spoiled",
        ("hidden_at", admin.EmptyFieldListFilter),
        "starts",
        ModelOfBattle,
        "created_at",
    ]
    list_select_related = ["left_model", "right_model"]
    search_fields = ["battle_id", "session__session_id", "session__user_id"]
    filterable = frozenset({"status", "spoiled", "hidden_at", "starts", "battle_id", "seq_in_session", "created_at"})
    always_shown = (
        *("battle_id", "session", "seq_in_session", "starts", "status", "spoiled"),
        *("hidden_at", "hidden_by", "hidden_reason", "created_at", "replay"),
    )
    inlines = [TurnInline]

    def get_urls(self) -> list[URLPattern]:
        page = path("<path:object_id>/reveal/", self.admin_site.admin_view(self.reveal), name="arena_battle_reveal")
        return [page, *super().get_urls()]

    def has_reveal_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and request.user.has_perm(REVEAL)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *more: Any, **named: Any) -> Any:
        battle = named.get("obj")
        hidden = battle is not None and not battle.names_known
        context["may_reveal"] = hidden and self.has_reveal_permission(request)
        return super().render_change_form(request, context, *more, **named)

    def reveal(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for a reason. With one, log it, show the names, and spoil the battle."""
        if not self.has_reveal_permission(request):
            raise PermissionDenied
        battle = self.get_object(request, unquote(object_id))
        if battle is None:
            raise Http404
        form = RevealForm(request.POST or None)
        if battle.names_known or (request.method == "POST" and form.is_valid()):
            self._reveal(request, battle, form)
            return HttpResponseRedirect(reverse("admin:arena_battle_change", args=[battle.pk]))
        context = {**self.admin_site.each_context(request), "title": "Reveal the names", "battle": battle, "form": form}
        return TemplateResponse(request, "admin/arena/battle/reveal.html", {**context, "opts": self.opts})

    def _reveal(self, request: HttpRequest, battle: Battle, form: RevealForm) -> None:
        if battle.names_known:
            self.message_user(request, "The names are known already", messages.WARNING)
            return
        try:
            with transaction.atomic():
                reveal_names(battle.battle_id)
                self.log_change(request, battle, f"Revealed the names: {form.cleaned_data['reason']}")
        except AlreadyVoted:
            self.message_user(request, "The vote came first: the names are known, and the battle counts")
        else:
            self.message_user(
                request, "The battle is spoiled: whatever is voted on it counts nowhere", messages.WARNING
            )


@admin.register(Turn)
class TurnAdmin(HidingAdmin, WithReplay, BlindAdmin):
    hidden_field, hidden_thing = "instruction_hidden_at", "instruction"
    hide, show = staticmethod(hiding.hide_instruction), staticmethod(hiding.show_instruction)
    list_display = [
        *("turn_id", "instruction", "start", "is_fork", "seq", "battle_id", "created_at"),
        *(state_told, unless_hidden("settled_at"), "replay"),
    ]
    list_filter = [TurnFailed, "is_fork", "start", "created_at"]
    list_select_related = ["battle"]
    ordering = ["-created_at", "-pk"]
    search_fields = ["turn_id", "instruction", "battle__battle_id"]
    filterable = frozenset({"turn_id", "instruction", "is_fork", "start", "seq", "created_at"})
    always_shown = (
        *("turn_id", "battle", "seq", "instruction", "instruction_hidden_at", "start", "is_fork"),
        *("created_at", state_told, "replay"),
    )
    inlines = [RolloutInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Turn]:
        return super().get_queryset(request).prefetch_related("attempts")


@admin.register(Attempt)
class RolloutAdmin(WithReplay, BlindAdmin):
    actions = ["retry"]
    list_display = [
        *("episode_id", "instruction", *OF_A_SIDE[1:]),
        *(unless_hidden("duration_ms"), unless_hidden("worker"), "created_at", "replay"),
    ]
    ordering = ["-turn__created_at", "-turn__pk", "side"]
    list_filter = [TurnFailed, ModelOfRollout, EndOfRollout, "side"]
    list_select_related = ["model", "turn__battle"]
    search_fields = ["episode_id", "turn__turn_id", "turn__battle__battle_id", "turn__instruction"]
    filterable = frozenset({"episode_id", "side", "created_at"})
    readonly_fields: ClassVar[Any] = ["instruction", "replay"]
    always_shown = ("episode_id", "turn", "instruction", "side", state_told, "created_at", "replay")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Attempt]:
        return super().get_queryset(request).prefetch_related("turn__attempts")

    @admin.display(description="instruction")
    def instruction(self, row: Attempt) -> str:
        return row.turn.instruction

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("arena.change_attempt")

    @admin.action(description="Play failed turns once more", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Attempt]) -> None:
        """Retry the failed sides of each turn, whichever side was ticked, without saying which these are."""
        for turn in Turn.objects.filter(attempts__in=queryset).distinct():
            try:
                _retry(turn)
            except ArenaError as refusal:
                self.message_user(request, f"{turn.turn_id}: {refusal}", messages.ERROR)
            else:
                self.log_change(request, turn, "Played once more")
                self.message_user(request, f"{turn.turn_id} is on the queue again", messages.SUCCESS)


def _retry(turn: Turn) -> None:
    failed = list(turn.attempts.filter(status=AttemptStatus.FAILED).select_related("turn"))
    if not failed or turn.settled_at is None:
        raise NotRetryable
    for attempt in failed:
        actions.retry_attempt(attempt)


@admin.register(Vote)
class VoteAdmin(WithReplay, ModelAdminBase):
    list_display = [
        *("vote_id", "vote", "left_model", "right_model", "setting"),
        *("processing_status", "reasons", "voted_at", "replay"),
    ]
    list_filter = ["vote", "processing_status", "kind", "setting", "scene", "voted_at"]
    list_select_related = ["left_model", "right_model", "battle"]
    search_fields = ["vote_id", "battle__battle_id", "session__session_id", "user_id"]


@admin.register(Feedback)
class FeedbackAdmin(WithReplay, ModelAdminBase):
    """Exists only for voted battles, whose names are known."""

    list_display = ["battle_id", "reasons", "why", "left_progress", "right_progress", "updated_at", "replay"]
    list_filter = ["updated_at"]
    search_fields = ["battle__battle_id", "battle__session__user_id", "why"]
