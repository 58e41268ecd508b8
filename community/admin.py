"""The queues of reports and of comments. A moderator does each act with one click, and it is logged.

Reports and comments are about voted battles, whose names everybody may know. Nothing here says who plays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from arena.admin import ReadOnly
from arena.blind_admin import ModelAdminBase
from community import comments, reports
from community.models import BY_URGENCY, PENDING_FIRST, Comment, Report
from community.reports import Resolution

MODERATE = "community.moderate"
BUTTONS = {
    Resolution.HIDE_BATTLE: "Hide the battle",
    Resolution.HIDE_INSTRUCTION: "Hide the instruction",
    Resolution.HIDE_COMMENT: "Hide the comment",
    Resolution.DISMISS: "Dismiss",
}
DONE = {
    Resolution.HIDE_BATTLE: "The battle is hidden from the public",
    Resolution.HIDE_INSTRUCTION: "The instruction is hidden from the public",
    Resolution.HIDE_COMMENT: "The comment is hidden from the public",
    Resolution.DISMISS: "The report is dismissed",
}
Buttons = list[tuple[str, str]]


class QueueAdmin(ReadOnly, ModelAdminBase):
    """A read-only list whose rows have buttons. They are part of the list's own form, and so carry its token."""

    actions = None
    list_per_page = 50

    def get_sortable_by(self, request: HttpRequest) -> tuple[str, ...]:
        """A queue has one order."""
        return ()

    def buttons_of(self, row: Any) -> Buttons:
        """What may be done with the row: value of the button -> its text."""
        raise NotImplementedError

    def act(self, row: Any, wanted: str, moderator: User) -> str:
        """Do it, and say what was done; "" if it could not be done any more."""
        raise NotImplementedError

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self._act_page)
        return [path("<int:key>/act/", view, name=self._named("act")), *super().get_urls()]

    @admin.display(description="where")
    def shared_page(self, row: Any) -> SafeString:
        address = reverse("shared-battle-page", args=[row.battle_id])
        return format_html('<a href="{}" title="{}">the battle</a>', address, row.battle_id)

    @admin.display(description="what to do")
    def acts(self, row: Any) -> SafeString | str:
        where = reverse(f"admin:{self._named('act')}", args=[row.pk])
        button = '<button type="submit" class="button" formaction="{}" name="act" value="{}">{}</button>'
        return format_html_join(" ", button, ((where, *each) for each in self.buttons_of(row))) or "–"

    @method_decorator(require_POST)
    def _act_page(self, request: HttpRequest, key: int) -> HttpResponse:
        if not request.user.has_perm(MODERATE):
            raise PermissionDenied
        row = get_object_or_404(self.model, pk=key)
        done = self.act(row, request.POST.get("act", ""), cast(User, request.user))
        if done:
            self.message_user(request, done, messages.SUCCESS)
        else:
            self.message_user(request, "Nothing was changed: somebody has dealt with it already", messages.WARNING)
        return HttpResponseRedirect(reverse(f"admin:{self._named('changelist')}"))

    def _named(self, view: str) -> str:
        return f"{self.opts.app_label}_{self.opts.model_name}_{view}"


@admin.register(Report)
class ReportAdmin(QueueAdmin):
    list_display = ["created_at", "acts", "state", "about", "complaint"]
    list_filter = ["state", "what", "reason", "created_at"]
    list_select_related = ["turn", "comment"]
    search_fields = ["battle__battle_id", "text"]
    ordering = BY_URGENCY
    fields = [
        *("what", "reported_text", "reason", "text", "shared_page", "created_at", "state"),
        *("resolved_by", "resolved_at", "acts"),
    ]
    readonly_fields = ["reported_text", "shared_page", "acts"]

    @admin.display(description="what it says")
    def reported_text(self, row: Report) -> str:
        if row.comment is not None:
            return row.comment.text
        return row.turn.instruction if row.turn is not None else "–"

    @admin.display(description="about")
    def about(self, row: Report) -> SafeString:
        """What is reported, with its words, and a link to where it stands."""
        what, text = row.get_what_display(), self.reported_text(row)
        told = what if row.what == Report.What.BATTLE else f"{what}: “{text}”"
        return format_html('<a href="{}">{}</a>', reverse("shared-battle-page", args=[row.battle_id]), told)

    @admin.display(description="what is wrong with it")
    def complaint(self, row: Report) -> str:
        return f"{row.get_reason_display()}: {row.text}" if row.text else row.get_reason_display()

    def buttons_of(self, row: Report) -> Buttons:
        return [(each.value, BUTTONS[each]) for each in reports.offered(row)]

    def act(self, row: Report, wanted: str, moderator: User) -> str:
        if wanted not in list(Resolution):
            return ""
        return DONE[Resolution(wanted)] if reports.resolve(row, Resolution(wanted), moderator) else ""


@admin.register(Comment)
class CommentAdmin(QueueAdmin):
    list_display = ["created_at", "acts", "state", "text", "author", "shared_page"]
    ordering = PENDING_FIRST
    list_filter = ["state", "created_at"]
    list_select_related = ["author"]
    search_fields = ["text", "battle__battle_id"]
    fields = ["text", "author", "shared_page", "created_at", "state", "decided_by", "decided_at", "acts"]
    readonly_fields = ["shared_page", "acts"]

    def buttons_of(self, row: Comment) -> Buttons:
        all_of_them = {Comment.State.PUBLIC: "Publish", Comment.State.HIDDEN: "Hide"}
        return [(state.value, text) for state, text in all_of_them.items() if state != row.state]

    def act(self, row: Comment, wanted: str, moderator: User) -> str:
        decisions: dict[str, tuple[Callable[[], bool], str]] = {
            Comment.State.PUBLIC: (lambda: comments.publish(row, moderator), "The comment is public"),
            Comment.State.HIDDEN: (lambda: reports.hide_comment(row, moderator), "The comment is hidden"),
        }
        if wanted not in decisions:
            return ""
        decide, done = decisions[wanted]
        return done if decide() else ""
