"""Studies in the admin, to be looked at."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from arena.blind_admin import ModelAdminBase
from studies.models import Study


@admin.register(Study)
class StudyAdmin(ModelAdminBase):
    list_display = ["study_id", "a_id", "b_id", "robot_id", "scene_id", "state", "pairs", "error", "created_at"]
    list_filter = ["state"]
    search_fields = ["study_id", "a_id", "b_id"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Study | None = None) -> bool:
        return False
