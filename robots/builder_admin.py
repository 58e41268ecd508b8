"""What the builders of tasks and of scenes share: moderators write YAML or fields, have it tried, and publish it."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from arena.audit import REASON_LENGTH
from arena.blind_admin import ModelAdminBase
from arena.errors import ArenaError
from robots import task_trials
from robots.models import Publication, Trial

LARGEST_SEED = 1_000_000
TRIALS_SHOWN = 30
What, State = Trial.What, Publication.State


class YamlForm(forms.Form):
    yaml = forms.CharField(
        label="YAML", max_length=20_000, strip=False, widget=forms.Textarea(attrs={"rows": 30, "cols": 70})
    )


class WithdrawalForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, widget=forms.TextInput(attrs={"size": 60}))


class BuilderAdmin(ModelAdminBase):
    """`called`: what it builds. `new`: the YAML of a new one. `store`: the module with `save_draft`, `faults_of`,
    `publish` and `withdraw` of it. `templates`: the folder of its editor and its page of trials.
    """

    called: str
    new: str
    store: Any
    templates: str
    list_filter = ["state"]
    ordering = ["-made_at"]
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was published is needed to verify recordings; a draft does no harm."""
        return False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.trial_page)
        return [path("<int:key>/try/", view, name=f"robots_{self.opts.model_name}_try"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("made_by")

    # What each builder says for itself.

    def fields_of(self, row: Any, said: Any = None) -> Any:
        """The form of the fields: with what was posted, or for the row's YAML, if fields can say that; else None."""
        raise NotImplementedError

    def help_for_editor(self) -> dict[str, Any]:
        return {}

    def trial_form(self, row: Any, said: Any) -> forms.Form:
        raise NotImplementedError

    def ask(self, row: Any, what: str, seed: int = 0) -> Any:
        """Have a worker do it. Raises QueueUnavailable."""
        raise NotImplementedError

    def play(self, request: HttpRequest, row: Any, form: Any) -> None:
        raise NotImplementedError

    def manifest_url(self, trial: Any) -> str:
        """Where the viewer finds the scene of a start; "" where it cannot."""
        raise NotImplementedError

    def is_checked(self, row: Any) -> bool:
        raise NotImplementedError

    # The editor.

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Fields and YAML side by side. Each button keeps the draft, as its own half of the page says."""
        if not (self.has_add_permission(request) if object_id is None else self.has_view_permission(request)):
            raise PermissionDenied
        row = self.model(yaml=self.new) if object_id is None else self.get_object(request, unquote(object_id))
        if row is None:
            return HttpResponseRedirect(reverse(f"admin:robots_{self.opts.model_name}_changelist"))
        if request.method == "POST" and not self._may_write(request, row):
            raise PermissionDenied
        refused: tuple[Any, Any] = (None, None)
        if request.method == "POST":
            saved, refused = self._save(request, row)
            if saved is not None:
                return saved
        return self._editor(request, row, *refused)

    def _may_write(self, request: HttpRequest, row: Any) -> bool:
        may = self.has_change_permission(request, row) if row.pk else self.has_add_permission(request)
        return may and row.state == State.DRAFT

    def _save(self, request: HttpRequest, row: Any) -> tuple[HttpResponse | None, tuple[Any, Any]]:
        """Keep the draft, or answer the forms with what is wrong in them."""
        if "from_fields" in request.POST:
            fields = self.fields_of(row, request.POST)
            if not fields.is_valid():
                return None, (fields, None)
            row.yaml = fields.to_yaml()
        else:
            text = YamlForm(request.POST)
            if not text.is_valid():
                return None, (None, text)
            row.yaml = text.cleaned_data["yaml"].replace("\r\n", "\n")
        row.made_by = row.made_by or cast(User, request.user)
        try:
            self.store.save_draft(row)
        except ArenaError as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        return HttpResponseRedirect(reverse(f"admin:robots_{self.opts.model_name}_change", args=[row.pk])), (None, None)

    def _editor(self, request: HttpRequest, row: Any, fields: Any, text: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            **self.help_for_editor(),
            "title": str(row) if row.pk else f"A new {self.called}",
            "opts": self.opts,
            "original": row,
            "try_url": reverse(f"admin:robots_{self.opts.model_name}_try", args=[row.pk]) if row.pk else "",
            "fields": fields or self.fields_of(row),
            "text": text or YamlForm(initial={"yaml": row.yaml}),
            "faults": self.store.faults_of(row.yaml, row.pk) if row.state == State.DRAFT and row.pk else [],
            "may_write": self._may_write(request, row),
        }
        return TemplateResponse(request, f"{self.templates}/editor.html", context)

    # Trials.

    def trial_page(self, request: HttpRequest, key: int) -> HttpResponse:
        """Starts, checks, rollouts and publication. A script looks again while a worker is at it."""
        may = self.has_change_permission(request) if request.method == "POST" else self.has_view_permission(request)
        if not may:
            raise PermissionDenied
        row = get_object_or_404(self.model, pk=key)
        form = self.trial_form(row, request.POST if "play" in request.POST else None)
        withdrawal = WithdrawalForm(request.POST if "withdraw" in request.POST else None)
        if request.method == "POST":
            try:
                self._act(request, row, form, withdrawal)
            except ArenaError as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            return HttpResponseRedirect(request.path)
        return self._trials(request, row, form, withdrawal)

    def _act(self, request: HttpRequest, row: Any, form: forms.Form, withdrawal: WithdrawalForm) -> None:
        """What the pressed button says. Raises ArenaError."""
        moderator = cast(User, request.user)
        if "publish" in request.POST:
            self.store.publish(row, moderator)
            self.message_user(request, "Published. It takes effect within a quarter of a minute", messages.SUCCESS)
        elif "withdraw" in request.POST:
            reason = withdrawal.cleaned_data["reason"] if withdrawal.is_valid() else ""
            self.store.withdraw(row, moderator, reason)
            self.message_user(request, "Withdrawn. Old recordings are still verified with it", messages.SUCCESS)
        elif "check" in request.POST:
            self.ask(row, What.CHECK)
        elif self.store.faults_of(row.yaml, row.pk):
            self.message_user(request, "Correct the errors in the YAML first", messages.ERROR)
        elif "start" in request.POST:
            self.ask(row, What.START, row.trials.filter(what=What.START).count())
        elif "play" in request.POST:
            self.play(request, row, form)

    def _trials(self, request: HttpRequest, row: Any, form: forms.Form, withdrawal: WithdrawalForm) -> HttpResponse:
        trials = list(row.trials.order_by("-pk")[:TRIALS_SHOWN])
        start = next((_shown(each, row) for each in trials if each.what == What.START), None)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Try {row}",
            "opts": self.opts,
            "original": row,
            "start": start,
            "manifest_url": self.manifest_url(start["trial"]) if start else "",
            "awaited": any(task_trials.is_awaited(each) for each in trials),
            "check": next((_shown(each, row) for each in trials if each.what == What.CHECK), None),
            "rollouts": [_shown(each, row) for each in trials if each.what == What.PLAY],
            "form": form,
            "withdrawal": withdrawal,
            "faults": self.store.faults_of(row.yaml, row.pk) if row.state == State.DRAFT else [],
            "is_checked": self.is_checked(row),
            "may_write": self.has_change_permission(request, row),
        }
        return TemplateResponse(request, f"{self.templates}/try.html", context)


def _shown(trial: Any, row: Any) -> dict[str, Any]:
    """For the page. `outdated`: the text has changed since."""
    picture = base64.b64encode(bytes(trial.picture)).decode()
    return {
        "trial": trial,
        "awaited": task_trials.is_awaited(trial),
        "outdated": trial.yaml != row.yaml,
        "qpos": json.dumps(trial.result["qpos"]) if "qpos" in trial.result else "",
        "picture": f"data:image/webp;base64,{picture}" if picture else "",
    }
