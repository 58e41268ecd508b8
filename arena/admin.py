"""What moderators see of sessions, battles, turns, rollouts and votes: they may look, and retry; nothing is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arena import actions
from arena.errors import ArenaError
from arena.models import REASONS, Battle, Rollout, Session, Turn, Vote

if TYPE_CHECKING:
    ModelAdminBase = admin.ModelAdmin[Any]
    TabularInlineBase = admin.TabularInline[Any, Any]
else:
    ModelAdminBase = admin.ModelAdmin
    TabularInlineBase = admin.TabularInline


class ReadOnly:
    """Records of what happened: nobody adds, edits or deletes them by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class BattleInline(ReadOnly, TabularInlineBase):
    model = Battle
    readonly_fields = ["battle_id", "seq_in_session", "left_model", "right_model", "status", "created_at"]
    fields = [*readonly_fields]
    ordering = ["seq_in_session"]
    show_change_link = True


class TurnInline(ReadOnly, TabularInlineBase):
    model = Turn
    readonly_fields = ["turn_id", "seq", "instruction", "start", "exploration", "settled_at"]
    fields = [*readonly_fields]
    ordering = ["seq"]
    show_change_link = True


class RolloutInline(ReadOnly, TabularInlineBase):
    model = Rollout
    readonly_fields = [
        "episode_id",
        "side",
        "model",
        "status",
        "attempt",
        "steps_done",
        "success",
        "termination_reason",
    ]
    fields = [*readonly_fields]
    show_change_link = True


@admin.register(Session)
class SessionAdmin(ReadOnly, ModelAdminBase):
    list_display = ["session_id", "robot_id", "scene_id", "user_id", "created_at", "last_active_at"]
    list_filter = ["robot_id", "scene_id", "last_active_at"]
    search_fields = ["session_id", "user_id"]
    inlines = [BattleInline]


@admin.register(Battle)
class BattleAdmin(ReadOnly, ModelAdminBase):
    list_display = ["battle_id", "status", "left_model", "right_model", "seq_in_session", "created_at", "replay"]
    list_filter = ["status", "left_model", "right_model", "created_at"]
    list_select_related = ["left_model", "right_model"]
    search_fields = ["battle_id", "session__session_id", "session__user_id"]
    readonly_fields = ["replay"]
    inlines = [TurnInline]

    @admin.display(description="replay")
    def replay(self, battle: Battle) -> SafeString:
        return _replay_link(battle.battle_id)


@admin.register(Turn)
class TurnAdmin(ReadOnly, ModelAdminBase):
    list_display = [
        "turn_id",
        "instruction",
        "start",
        "exploration",
        "seq",
        "battle_id",
        "created_at",
        "settled_at",
        "replay",
    ]
    list_filter = ["exploration", "start", "created_at"]
    list_select_related = ["battle"]
    search_fields = ["turn_id", "instruction", "battle__battle_id"]
    readonly_fields = ["replay"]
    inlines = [RolloutInline]

    @admin.display(description="replay")
    def replay(self, turn: Turn) -> SafeString:
        return _replay_link(turn.battle_id, turn.turn_id)


@admin.register(Rollout)
class RolloutAdmin(ReadOnly, ModelAdminBase):
    actions = ["retry"]
    list_display = [
        "episode_id",
        "side",
        "model",
        "status",
        "attempt",
        "steps_done",
        "success",
        "termination_reason",
        "duration_ms",
        "worker",
        "created_at",
        "replay",
    ]
    list_filter = ["status", "side", "model", "termination_reason", "success"]
    list_select_related = ["model", "turn__battle"]
    search_fields = ["episode_id", "turn__turn_id", "turn__battle__battle_id", "error"]
    readonly_fields = ["replay"]

    @admin.display(description="replay")
    def replay(self, rollout: Rollout) -> SafeString:
        return _replay_link(rollout.turn.battle_id, rollout.turn_id)

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("arena.change_rollout")

    @admin.action(description="Play failed rollouts once more", permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Rollout]) -> None:
        for rollout in queryset.select_related("turn"):
            try:
                actions.retry_rollout(rollout)
            except ArenaError as refusal:
                self.message_user(request, f"{rollout.episode_id}: {refusal}", messages.ERROR)
            else:
                self.log_change(request, rollout, "Played once more")
                self.message_user(request, f"{rollout.episode_id} is on the queue again", messages.SUCCESS)


@admin.register(Vote)
class VoteAdmin(ReadOnly, ModelAdminBase):
    list_display = [
        "vote_id",
        "vote",
        "left_model",
        "right_model",
        "robot_id",
        "processing_status",
        *REASONS,
        "voted_at",
        "replay",
    ]
    list_filter = ["vote", "processing_status", "robot_id", "scene_id", *REASONS, "voted_at"]
    list_select_related = ["left_model", "right_model", "battle"]
    search_fields = ["vote_id", "battle__battle_id", "session__session_id", "user_id"]
    readonly_fields = ["replay"]

    @admin.display(description="replay")
    def replay(self, vote: Vote) -> SafeString:
        return _replay_link(vote.battle_id)


def _replay_link(battle_id: object, turn_id: object = None) -> SafeString:
    """The battle's page, as its visitor sees it; who may see all battles may look at any there."""
    address = f"/battle/{battle_id}" + (f"?turn={turn_id}" if turn_id else "")
    return format_html('<a href="{}">replay</a>', address)
