"""The builder of tasks: moderators write one, look at its starts, have it checked and played, and publish it."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
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
from arena.kinds import Place
from policies.models import Policy
from robots import published_tasks, task_trials
from robots.kind import Robots
from robots.models import PublishedTask, TaskTrial
from robots.remote_admin import RemoteTrialAdmin
from robots.task_form import NEW, TaskForm, initial_of, predicate_help
from simulation.catalogue_rows import CatalogueError

__all__ = ["PublishedTaskAdmin", "RemoteTrialAdmin"]
EXPERT = "scripted-expert"
LARGEST_SEED = 1_000_000
State, What = PublishedTask.State, TaskTrial.What


class YamlForm(forms.Form):
    yaml = forms.CharField(
        label="YAML", max_length=20_000, strip=False, widget=forms.Textarea(attrs={"rows": 30, "cols": 70})
    )


class TrialForm(forms.Form):
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0, label="Start number")
    one = forms.ChoiceField(label="First policy")
    other = forms.ChoiceField(label="Second policy")

    def __init__(self, *args: Any, policies: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label in (("one", "First policy"), ("other", "Second policy")):
            self.fields[name] = forms.ChoiceField(label=label, choices=policies)


class WithdrawalForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, widget=forms.TextInput(attrs={"size": 60}))


@admin.register(PublishedTask)
class PublishedTaskAdmin(ModelAdminBase):
    list_display = ["__str__", "state", "since", "until", "made_by", "made_at"]
    list_filter = ["state"]
    search_fields = ["task_id", "yaml"]
    ordering = ["-made_at"]
    actions = None

    def has_delete_permission(self, request: HttpRequest, obj: PublishedTask | None = None) -> bool:
        """What was published is needed to verify recordings; a draft does no harm."""
        return False

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.trial_page)
        return [path("<int:key>/try/", view, name="robots_publishedtask_try"), *super().get_urls()]

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
        row = PublishedTask(yaml=NEW) if object_id is None else self.get_object(request, unquote(object_id))
        if row is None:
            return HttpResponseRedirect(reverse("admin:robots_publishedtask_changelist"))
        if request.method == "POST" and not self._may_write(request, row):
            raise PermissionDenied
        refused: tuple[Any, Any] = (None, None)
        if request.method == "POST":
            saved, refused = self._save(request, row)
            if saved is not None:
                return saved
        return self._editor(request, row, *refused)

    def _may_write(self, request: HttpRequest, row: PublishedTask) -> bool:
        may = self.has_change_permission(request, row) if row.pk else self.has_add_permission(request)
        return may and row.state == State.DRAFT

    def _save(self, request: HttpRequest, row: PublishedTask) -> tuple[HttpResponse | None, tuple[Any, Any]]:
        """Keep the draft, or answer the forms with what is wrong in them."""
        fields, text = None, None
        if "from_fields" in request.POST:
            fields = TaskForm(request.POST, scene_id=_scene_of(row.yaml))
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
            published_tasks.save_draft(row)
        except ArenaError as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        return HttpResponseRedirect(reverse("admin:robots_publishedtask_change", args=[row.pk])), (None, None)

    def _editor(self, request: HttpRequest, row: PublishedTask, fields: Any, text: Any) -> HttpResponse:
        initial = initial_of(row.yaml)
        scene_id = _scene_of(row.yaml)
        if fields is None and initial is not None:
            fields = TaskForm(initial=initial, scene_id=scene_id)
        context = {
            **self.admin_site.each_context(request),
            "title": str(row) if row.pk else "A new task",
            "opts": self.opts,
            "original": row,
            "fields": fields,
            "text": text or YamlForm(initial={"yaml": row.yaml}),
            "faults": published_tasks.faults_of(row.yaml, row.pk) if row.state == State.DRAFT and row.pk else [],
            "predicates": list(predicate_help()),
            "may_write": self._may_write(request, row),
        }
        return TemplateResponse(request, "admin/robots/publishedtask/editor.html", context)

    def trial_page(self, request: HttpRequest, key: int) -> HttpResponse:
        """Starts, checks and rollouts of a task, and its publication. Its script looks again while a worker is at it."""
        may = self.has_change_permission(request) if request.method == "POST" else self.has_view_permission(request)
        if not may:
            raise PermissionDenied
        row = get_object_or_404(PublishedTask, pk=key)
        form = TrialForm(request.POST if "play" in request.POST else None, policies=_policies(row))
        withdrawal = WithdrawalForm(request.POST if "withdraw" in request.POST else None)
        if request.method == "POST":
            try:
                self._act(request, row, form, withdrawal)
            except ArenaError as refusal:
                self.message_user(request, str(refusal), messages.ERROR)
            return HttpResponseRedirect(request.path)
        return self._trials(request, row, form, withdrawal)

    def _act(self, request: HttpRequest, row: PublishedTask, form: TrialForm, withdrawal: WithdrawalForm) -> None:
        """What the pressed button says. Raises ArenaError."""
        moderator = cast(User, request.user)
        if "publish" in request.POST:
            published_tasks.publish(row, moderator)
            self.message_user(request, "Published. Sentences mean it within a quarter of a minute", messages.SUCCESS)
        elif "withdraw" in request.POST:
            reason = withdrawal.cleaned_data["reason"] if withdrawal.is_valid() else ""
            published_tasks.withdraw(row, moderator, reason)
            self.message_user(request, "Withdrawn. Old recordings are still judged by it", messages.SUCCESS)
        elif "check" in request.POST:
            task_trials.ask(row, What.CHECK)
        elif published_tasks.faults_of(row.yaml, row.pk):
            self.message_user(request, "Mend the faults of the YAML first", messages.ERROR)
        elif "start" in request.POST:
            task_trials.ask(row, What.START, row.trials.filter(what=What.START).count())
        elif "play" in request.POST:
            self._play(request, row, form)

    def _play(self, request: HttpRequest, row: PublishedTask, form: TrialForm) -> None:
        if not form.is_valid():
            self.message_user(request, "Choose two policies and a start number", messages.ERROR)
            return
        said = form.cleaned_data
        known = {EXPERT} & set(Policy.objects.values_list("pk", flat=True))
        for model_id in sorted(known | {said["one"], said["other"]}):
            task_trials.ask(row, What.PLAY, said["seed"], model_id)

    def _trials(
        self, request: HttpRequest, row: PublishedTask, form: TrialForm, withdrawal: WithdrawalForm
    ) -> HttpResponse:
        trials = list(row.trials.order_by("-pk")[:30])
        start = next((_shown(each, row) for each in trials if each.what == What.START), None)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Try {row}",
            "opts": self.opts,
            "original": row,
            "start": start,
            "manifest_url": _manifest_url(start["trial"].yaml) if start else "",
            "awaited": any(task_trials.is_awaited(each) for each in trials),
            "check": next((_shown(each, row) for each in trials if each.what == What.CHECK), None),
            "rollouts": [_shown(each, row) for each in trials if each.what == What.PLAY],
            "form": form,
            "withdrawal": withdrawal,
            "faults": published_tasks.faults_of(row.yaml, row.pk) if row.state == State.DRAFT else [],
            "is_checked": published_tasks.is_checked(row),
            "may_write": self.has_change_permission(request, row),
        }
        return TemplateResponse(request, "admin/robots/publishedtask/try.html", context)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PublishedTask]:
        return cast("QuerySet[PublishedTask]", super().get_queryset(request)).select_related("made_by")


def _scene_of(text: str) -> str:
    try:
        return published_tasks.read(text).task.scene_id
    except CatalogueError:
        world = (initial_of(text) or {}).get("world", "")
        return world.partition("/")[2] or "table"


def _manifest_url(text: str) -> str:
    """Where the viewer finds the scene of a task; "" if the text cannot be read."""
    try:
        task = published_tasks.read(text).task
    except CatalogueError:
        return ""
    return reverse("scene", args=[task.robot_id, task.scene_id])


def _policies(row: PublishedTask) -> list[tuple[str, str]]:
    """Those that fit the task's world."""
    try:
        task = published_tasks.read(row.yaml).task
    except CatalogueError:
        return []
    return list(Robots().eligible(Place(task.robot_id, task.scene_id)).order_by("name").values_list("pk", "name"))


def _shown(trial: TaskTrial, row: PublishedTask) -> dict[str, Any]:
    """For the page. `outdated`: the text has changed since."""
    picture = base64.b64encode(bytes(trial.picture)).decode()
    return {
        "trial": trial,
        "awaited": task_trials.is_awaited(trial),
        "outdated": trial.yaml != row.yaml,
        "qpos": json.dumps(trial.result.get("qpos", [])),
        "picture": f"data:image/webp;base64,{picture}" if picture else "",
    }
