"""The moderation queue: findings, votes and voters to exclude or restore, and the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.admin import ReadOnly
from arena.blind_admin import ModelAdminBase
from arena.models import Vote
from rankings.admin import networks
from rankings.admin.networks import NetworkFilter
from rankings.api.permissions import MODERATE
from rankings.models import CountedVote, ExcludedVoter, Finding, ModerationAct
from rankings.moderation import acts
from rankings.moderation.acts import By, NoReason
from rankings.moderation.networks import days_of


class ModerationReasonForm(ActionForm):
    """The list's action box with a field for a reason."""

    reason = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("reason, kept in the audit log"), "size": 40}),
    )


class ModerationAdmin(ReadOnly, ModelAdminBase):
    """A read-only list with actions that need a reason and the permission to moderate."""

    action_form = ModerationReasonForm

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MODERATE)

    def act(self, request: HttpRequest, act: Callable[[By], int], message: str) -> None:
        """Run `act` and put the number it returns into `message`."""
        try:
            number = act(By(cast(User, request.user), request.POST.get("reason", "")))
        except NoReason as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        else:
            self.message_user(request, message.format(number), messages.SUCCESS)

    def act_on_each(
        self, request: HttpRequest, act: Callable[[Any, By], int], rows: Iterable[Any], message: str
    ) -> None:
        self.act(request, lambda by: sum(act(row, by) for row in rows), message)


@admin.register(Finding)
class FindingAdmin(ModerationAdmin):
    actions = ["exclude_voters", "dismiss"]
    list_display = ["kind", "arena", "subject", "summary", "state", "renewed_at", "found_at"]
    list_filter = ["state", "kind", "arena"]
    search_fields = ["subject", "summary"]

    @admin.action(description=gettext_lazy("Exclude these voters, with a reason"), permissions=["moderate"])
    def exclude_voters(self, request: HttpRequest, queryset: QuerySet[Finding]) -> None:
        self.act(
            request,
            lambda by: acts.exclude_found(queryset, by),
            _("{} votes no longer count; the boards follow with the next publication"),
        )

    @admin.action(description=gettext_lazy("Dismiss, with a reason"), permissions=["moderate"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[Finding]) -> None:
        self.act(request, lambda by: acts.dismiss(queryset, by), _("{} dismissed"))


@admin.register(CountedVote)
class CountedVoteAdmin(ModerationAdmin):
    actions = ["exclude_votes", "restore_votes", "exclude_voters", "exclude_networks", "restore_networks"]
    list_display = [
        *("vote", "choice", "left", "right", "voter", "network", "voted_at"),
        *("dwell", "counted", "excluded", "replay"),
    ]
    list_filter = ["counted", "excluded", NetworkFilter, "vote__vote", "vote__setting", "vote__voted_at"]
    list_select_related = ["vote"]
    search_fields = ["vote__vote_id", "vote__user_id", "vote__battle__battle_id"]
    ordering = ["-vote__voted_at"]
    show_full_result_count = False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "networks": networks.groups(request)})

    @admin.display(description=gettext_lazy("network"), ordering="vote__network")
    def network(self, row: CountedVote) -> str:
        return networks.link(row.vote)

    @admin.display(description=gettext_lazy("vote"), ordering="vote__vote")
    def choice(self, row: CountedVote) -> str:
        return str(row.vote.get_vote_display())

    @admin.display(ordering="vote__left_model")
    def left(self, row: CountedVote) -> str:
        return str(row.vote.left_model_id)

    @admin.display(ordering="vote__right_model")
    def right(self, row: CountedVote) -> str:
        return str(row.vote.right_model_id)

    @admin.display(ordering="vote__user_id")
    def voter(self, row: CountedVote) -> str:
        return row.vote.user_id or "–"

    @admin.display(ordering="vote__voted_at")
    def voted_at(self, row: CountedVote) -> Any:
        return row.vote.voted_at

    @admin.display(description=gettext_lazy("looked for [s]"), ordering="vote__dwell_ms")
    def dwell(self, row: CountedVote) -> str:
        return "–" if row.vote.dwell_ms is None else f"{row.vote.dwell_ms / 1000:.1f}"

    @admin.display(description="")
    def replay(self, row: CountedVote) -> SafeString:
        return format_html('<a href="/battle/{}">{}</a>', row.vote.battle_id, _("replay"))

    @admin.action(description=gettext_lazy("Exclude these votes, with a reason"), permissions=["moderate"])
    def exclude_votes(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> None:
        self.act(request, lambda by: acts.exclude_votes(_votes(queryset), by), _("{} votes excluded"))

    @admin.action(description=gettext_lazy("Restore these votes, with a reason"), permissions=["moderate"])
    def restore_votes(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> None:
        self.act(request, lambda by: acts.restore_votes(_votes(queryset), by), _("{} votes restored"))

    @admin.action(description=gettext_lazy("Exclude the voters of these votes"), permissions=["moderate"])
    def exclude_voters(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> None:
        voters = sorted({vote.user_id for vote in _votes(queryset) if vote.user_id})
        message = _("{} votes no longer count; the boards follow with the next publication")
        self.act_on_each(request, acts.exclude_voter, voters, message)

    @admin.action(
        description=gettext_lazy("Exclude all votes of these networks on these days"), permissions=["moderate"]
    )
    def exclude_networks(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> None:
        self._act_on_networks(request, acts.exclude_votes, queryset, _("{} votes excluded"))

    @admin.action(
        description=gettext_lazy("Restore all votes of these networks on these days"), permissions=["moderate"]
    )
    def restore_networks(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> None:
        self._act_on_networks(request, acts.restore_votes, queryset, _("{} votes restored"))

    def _act_on_networks(
        self,
        request: HttpRequest,
        act: Callable[[Iterable[Vote], By], int],
        queryset: QuerySet[CountedVote],
        message: str,
    ) -> None:
        days = days_of(_votes(queryset))
        self.act_on_each(request, lambda day, by: act(day.votes(), by.about(str(day))), days, message)


def _votes(rows: QuerySet[CountedVote]) -> list[Vote]:
    return [row.vote for row in rows.select_related("vote")]


@admin.register(ExcludedVoter)
class ExcludedVoterAdmin(ModerationAdmin):
    actions = ["restore"]
    list_display = ["voter", "why"]
    search_fields = ["voter"]

    @admin.display(description=gettext_lazy("reason"))
    def why(self, row: ExcludedVoter) -> str:
        act = ModerationAct.objects.filter(action=ModerationAct.Action.EXCLUDE_VOTER, subject=row.voter).first()
        return f"{act.reason} ({act.moderator_name or _('a command')}, {act.done_at:%Y-%m-%d %H:%M})" if act else "–"

    @admin.action(description=gettext_lazy("Restore these voters, with a reason"), permissions=["moderate"])
    def restore(self, request: HttpRequest, queryset: QuerySet[ExcludedVoter]) -> None:
        message = _("{} votes count again; the boards follow with the next publication")
        self.act_on_each(request, acts.restore_voter, [row.voter for row in queryset], message)


@admin.register(ModerationAct)
class ModerationActAdmin(ReadOnly, ModelAdminBase):
    list_display = ["done_at", "moderator_name", "action", "subject", "votes", "reason"]
    list_filter = ["action", "done_at"]
    search_fields = ["subject", "reason", "moderator_name"]
