"""The admin pages of scenarios, agents and conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from voice.models import Conversation, ScenarioRow, VoiceAgent

if TYPE_CHECKING:
    ScenarioAdminBase = admin.ModelAdmin[ScenarioRow]
    AgentAdminBase = admin.ModelAdmin[VoiceAgent]
    ConversationAdminBase = admin.ModelAdmin[Conversation]
else:
    ScenarioAdminBase = AgentAdminBase = ConversationAdminBase = admin.ModelAdmin


PROVIDERS_LIMITS = (
    "Vapi is called by its websocket transport. Retell is called by its audio socket, which Retell calls deprecated "
    "and may have turned off for an account: calls then end as failed. Its web calls are WebRTC and not supported: "
    "they would need a LiveKit client in the process that holds calls. Neither adapter was tried against the "
    "provider itself (docs/voice.md, Limits)."
)


@admin.register(ScenarioRow)
class ScenarioAdmin(ScenarioAdminBase):
    """A scenario is checked as its file would be before it is saved."""

    list_display = ["name", "id", "category", "difficulty", "max_turns", "max_duration_seconds"]
    list_filter = ["category", "difficulty"]
    readonly_fields = ["created_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ScenarioRow | None = None) -> list[str]:
        """Conversations refer to the id."""
        return [*self.readonly_fields, "id"] if obj else list(self.readonly_fields)


@admin.register(VoiceAgent)
class VoiceAgentAdmin(AgentAdminBase):
    list_display = ["name", "id", "provider", "architecture_type", "status", "status_reason"]
    list_filter = ["status", "provider", "architecture_type"]
    readonly_fields = ["created_at"]
    fieldsets = [
        (None, {"fields": ["id", "name", "description", "organization", "family", "license", "provenance"]}),
        (
            "Agent",
            {"fields": ["provider", "architecture_type", "components", "config"], "description": PROVIDERS_LIMITS},
        ),
        ("Playing", {"fields": ["status", "status_reason", "reference", "created_at"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: VoiceAgent | None = None) -> list[str]:
        return [*self.readonly_fields, "id"] if obj else list(self.readonly_fields)

    def has_delete_permission(self, request: HttpRequest, obj: VoiceAgent | None = None) -> bool:
        """Contestants are never deleted: one that should play no more is retired."""
        return False


@admin.register(Conversation)
class ConversationAdmin(ConversationAdminBase):
    """Calls by script alone: a conversation of a battle names its agent, and staff are as blind as visitors."""

    list_display = [
        "scenario",
        "agent",
        "created_at",
        "total_turns",
        "p50_latency_ms",
        "joint_goal_accuracy",
        "task_success",
    ]
    list_filter = ["scenario", "agent", "ended"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        return super().get_queryset(request).filter(call=None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False
