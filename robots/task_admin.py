"""The builder of tasks: moderators write one, look at its starts, have it checked and played, and publish it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.urls import reverse

from arena.kinds import Place
from policies.models import Policy
from robots import published_tasks, task_trials
from robots.builder_admin import LARGEST_SEED, BuilderAdmin
from robots.kind import Robots
from robots.models import PublishedTask, TaskTrial
from robots.task_form import NEW, TaskForm, initial_of, predicate_help
from simulation.catalogue_rows import CatalogueError
from simulation.catalogue_tasks import Task

EXPERT = "scripted-expert"


class TrialForm(forms.Form):
    seed = forms.IntegerField(min_value=0, max_value=LARGEST_SEED, initial=0, label="Start number")
    one = forms.ChoiceField(label="First policy")
    other = forms.ChoiceField(label="Second policy")

    def __init__(self, *args: Any, policies: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label, usual in (("one", "First policy", 0), ("other", "Second policy", 1)):
            initial = policies[usual][0] if usual < len(policies) else None
            self.fields[name] = forms.ChoiceField(label=label, choices=policies, initial=initial)


@admin.register(PublishedTask)
class PublishedTaskAdmin(BuilderAdmin):
    called, new, store, templates = "task", NEW, published_tasks, "admin/robots/publishedtask"
    list_display = ["__str__", "state", "since", "until", "made_by", "made_at"]
    search_fields = ["task_id", "yaml"]

    def fields_of(self, row: Any, said: Any = None) -> TaskForm | None:
        scene_id, initial = _scene_of(row.yaml), initial_of(row.yaml)
        if said is not None:
            return TaskForm(said, scene_id=scene_id)
        return None if initial is None else TaskForm(initial=initial, scene_id=scene_id)

    def help_for_editor(self) -> dict[str, Any]:
        return {"predicates": list(predicate_help())}

    def trial_form(self, row: Any, said: Any) -> TrialForm:
        return TrialForm(said, policies=_policies(row))

    def ask(self, row: Any, what: str, seed: int = 0) -> TaskTrial:
        return task_trials.ask(row, what, seed)

    def play(self, request: HttpRequest, row: Any, form: Any) -> None:
        if not form.is_valid():
            self.message_user(request, "Choose two policies and a start number", messages.ERROR)
            return
        said = form.cleaned_data
        known = {EXPERT} & set(Policy.objects.values_list("pk", flat=True))
        for model_id in sorted(known | {said["one"], said["other"]}):
            task_trials.ask(row, TaskTrial.What.PLAY, said["seed"], model_id)

    def manifest_url(self, trial: Any) -> str:
        task = _task_in(trial.yaml)
        return reverse("scene", args=[task.robot_id, task.scene_id]) if task else ""

    def is_checked(self, row: Any) -> bool:
        return published_tasks.is_checked(row)


def _task_in(text: str) -> Task | None:
    try:
        return published_tasks.read(text).task
    except CatalogueError:
        return None


def _scene_of(text: str) -> str:
    if task := _task_in(text):
        return task.scene_id
    return (initial_of(text) or {}).get("world", "").partition("/")[2] or "table"


def _policies(row: PublishedTask) -> list[tuple[str, str]]:
    """Those that fit the task's world."""
    if (task := _task_in(row.yaml)) is None:
        return []
    return list(Robots().eligible(Place(task.robot_id, task.scene_id)).order_by("name").values_list("pk", "name"))
