"""The form in which a researcher asks for a study. Its choices are those of one world."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_lazy

from robots.seeds import HELD_OUT_SEEDS
from studies.asking import Wanted, World, policies_for, tasks_for

SUGGESTED_SEEDS = 50


class StudyForm(forms.Form):
    """Its labels end as they are written, without a colon."""

    a = forms.ChoiceField(label=gettext_lazy("Policy A"))
    b = forms.ChoiceField(label=gettext_lazy("Policy B"))
    tasks = forms.MultipleChoiceField(label=gettext_lazy("Tasks"), widget=forms.CheckboxSelectMultiple)
    seeds = forms.IntegerField(
        min_value=1,
        max_value=settings.STUDIES["pairs"],
        initial=SUGGESTED_SEEDS,
        label=gettext_lazy("Seeds per task"),
        help_text=gettext_lazy("Both policies play each from the same first state."),
    )
    first_seed = forms.IntegerField(
        min_value=0, max_value=HELD_OUT_SEEDS - 1, initial=0, label=gettext_lazy("First seed")
    )
    margin = forms.FloatField(
        min_value=0.0,
        max_value=0.99,
        initial=0.0,
        label=gettext_lazy("A difference that does not matter"),
        help_text=gettext_lazy("Such as 0.1: the study also ends when both are certain to differ by less. 0: none."),
    )
    play_all = forms.BooleanField(required=False, label=gettext_lazy("Play all pairs, also where it is settled before"))

    def __init__(self, world: World, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self._world = world
        names = [(policy.pk, policy.name) for policy in policies_for(world)]
        tasks = tasks_for(world)
        for side, field in enumerate(self._choices("a", "b")):
            field.choices = names
            field.initial = names[min(side, len(names) - 1)][0] if names else None
        (chosen,) = self._choices("tasks")
        chosen.choices = [(task.id, gettext(task.name)) for task in tasks]
        chosen.initial = [task.id for task in tasks if task.suggested]

    def _choices(self, *names: str) -> list[Any]:
        return [self.fields[name] for name in names]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        if data["a"] == data["b"]:
            raise ValidationError(gettext("Choose two different policies."))
        most = settings.STUDIES["pairs"]
        if len(data["tasks"]) * data["seeds"] > most:
            told = gettext("A study has at most {most} pairs; with these tasks that is {seeds} seeds per task.")
            self.add_error("seeds", told.format(most=most, seeds=most // len(data["tasks"])))
        return data

    def wanted(self) -> Wanted:
        data = self.cleaned_data
        robot_id, scene_id = self._world
        return Wanted(
            data["a"],
            data["b"],
            robot_id,
            scene_id,
            data["tasks"],
            data["seeds"],
            data["first_seed"],
            data["margin"],
            data["play_all"],
        )
