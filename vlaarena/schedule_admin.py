"""The schedule in the admin: what it stores can be followed. One row that cannot ends beat, and with it every task."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from celery.exceptions import CeleryError
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_celery_beat import admin as beat
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from kombu.utils.json import loads

if TYPE_CHECKING:
    ModelFormBase = forms.ModelForm[Any]
else:
    ModelFormBase = forms.ModelForm

UNFIT = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RuntimeError, CeleryError)
"""What texts and figures of a schedule may end in."""
KINDS: dict[type, str] = {list: "list", dict: "dictionary"}
SAID: dict[str, tuple[type, str]] = {"args": (list, "[]"), "kwargs": (dict, "{}"), "headers": (dict, "{}")}
"""Field of a task -> what its JSON has to be, and the least that it may say."""


def check_said(name: str, text: str | None) -> None:
    """Raises ValidationError unless that field of a task can be sent."""
    kind, example = SAID[name]
    try:
        found = loads(text or example)  # type: ignore[no-untyped-call]
    except UNFIT as error:
        raise ValidationError(f"Not JSON, such as {example}: {str(error)[:200]}") from None
    if not isinstance(found, kind):
        raise ValidationError(f"Give a {KINDS[kind]}, such as {example}")


def check_followed(schedule: Any) -> None:
    """`schedule`: a row of one, or a task. Raises ValidationError unless beat can tell from it when it is due."""
    now = datetime.now(UTC)
    try:
        schedule.schedule.is_due(now)
        if getattr(schedule, "start_time", None):
            schedule.due_start_time(UTC)
    except UNFIT as error:
        raise ValidationError(f"Nobody can tell from this when a task is due: {str(error)[:200]}") from None


class Followed(ModelFormBase):
    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            try:
                check_followed(self.instance)
            except ValidationError as error:
                self.add_error(None, error)


class TaskForm(Followed, beat.PeriodicTaskForm):
    def clean(self) -> Any:
        """The library's own looks at the task's name even where that was refused."""
        return super().clean() if "task" in self.cleaned_data else forms.ModelForm.clean(self)

    def _clean_json(self, field: str) -> str:
        check_said(field, self.cleaned_data[field])
        return self.cleaned_data[field] or SAID[field][1]

    def clean_headers(self) -> str:
        return self._clean_json("headers")


class TaskAdmin(beat.PeriodicTaskAdmin):
    form = TaskForm

    @admin.action(description=beat.PeriodicTaskAdmin.run_tasks.short_description)
    def run_tasks(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Tasks that were stored in another way may say anything."""
        for task in queryset:
            for name in SAID:
                try:
                    check_said(name, getattr(task, name))
                except ValidationError as error:
                    told = f"{task.name}, {name}: {' '.join(error.messages)}"
                    self.message_user(request, told, messages.ERROR)
                    return
        super().run_tasks(request, queryset)


class ScheduleAdmin(beat.ScheduleAdmin):
    form = Followed


class ClockedAdmin(ScheduleAdmin, beat.ClockedScheduleAdmin):
    pass


class CrontabAdmin(ScheduleAdmin, beat.CrontabScheduleAdmin):
    pass


ADMINS: dict[type[Model], Any] = {
    PeriodicTask: TaskAdmin,
    IntervalSchedule: ScheduleAdmin,
    CrontabSchedule: CrontabAdmin,
    ClockedSchedule: ClockedAdmin,
    SolarSchedule: ScheduleAdmin,
}
for each, with_care in ADMINS.items():
    admin.site.unregister(each)
    admin.site.register(each, with_care)
