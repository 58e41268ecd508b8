"""Games in the admin: looked at, and handed in as files. Rows come from files alone, so nobody edits them."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arena.admin import ReadOnly
from arena.blind_admin import ModelAdminBase
from wormarena.ingestion.posting import INGEST
from wormarena.models import Game


@admin.register(Game)
class GameAdmin(ReadOnly, ModelAdminBase):
    actions = None
    list_display = ["game_id", "model_a_name", "model_b_name", "total_score", "game_type", "played_at", "ingested_at"]
    list_filter = ["game_type"]
    search_fields = ["=game_id", "model_a_name", "model_b_name"]
    ordering = ["-played_at", "-game_id"]
    show_full_result_count = False
    readonly_fields = ["replay"]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self._hand_in)
        return [path("hand-in/", view, name="wormarena_game_hand_in"), *super().get_urls()]

    @admin.display(description="replay")
    def replay(self, row: Game) -> SafeString:
        return format_html('<a href="{}">replay</a>', reverse("worm-game", args=[row.game_id]))

    def _hand_in(self, request: HttpRequest) -> HttpResponse:
        """The page whose script posts files to the API."""
        if not request.user.has_perm(INGEST):
            raise PermissionDenied
        context = {**self.admin_site.each_context(request), "title": "Hand in files of games", "opts": self.opts}
        return TemplateResponse(request, "admin/wormarena/game/hand_in.html", context)
