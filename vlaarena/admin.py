"""The admin of third-party apps. Schedules are validated, since beat dies of an invalid one, and with it every task.

Second-factor keys are not listed: users manage their own in `second_factor_pages`. Addresses and passkeys of visitors
are theirs alone (`people`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from celery.exceptions import CeleryError
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django_celery_beat import admin as beat
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from kombu.utils.json import loads

if TYPE_CHECKING:
    ModelFormBase = forms.ModelForm[Any]
else:
    ModelFormBase = forms.ModelForm

UNFIT = (ValueError, TypeError, ArithmeticError, LookupError, AttributeError, RuntimeError, CeleryError)
"""Errors that evaluating an invalid schedule may raise."""
KINDS: dict[type, str] = {list: "list", dict: "dictionary"}
JSON_FIELDS: dict[str, tuple[type, str]] = {"args": (list, "[]"), "kwargs": (dict, "{}"), "headers": (dict, "{}")}
"""Field of a task -> the type of its JSON, and its empty value."""


def check_json(name: str, text: str | None) -> None:
    """Raises ValidationError unless the text is valid for that field of a task."""
    kind, example = JSON_FIELDS[name]
    try:
        found = loads(text or example)  # type: ignore[no-untyped-call]
    except UNFIT as error:
        raise ValidationError(f"Not JSON, such as {example}: {str(error)[:200]}") from None
    if not isinstance(found, kind):
        raise ValidationError(f"Give a {KINDS[kind]}, such as {example}")


def check_schedule(schedule: Any) -> None:
    """Raises ValidationError unless beat can compute when this schedule or task is due."""
    now = datetime.now(UTC)
    try:
        schedule.schedule.is_due(now)
        if getattr(schedule, "start_time", None):
            schedule.due_start_time(UTC)
    except UNFIT as error:
        raise ValidationError(f"Beat cannot compute from this when a task is due: {str(error)[:200]}") from None


class ScheduleForm(ModelFormBase):
    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if not self.errors:
            try:
                check_schedule(self.instance)
            except ValidationError as error:
                self.add_error(None, error)


class TaskForm(ScheduleForm, beat.PeriodicTaskForm):
    def clean(self) -> Any:
        """Skips the library's check if the task's name, which it reads, was refused."""
        return super().clean() if "task" in self.cleaned_data else forms.ModelForm.clean(self)

    def _clean_json(self, field: str) -> str:
        check_json(field, self.cleaned_data[field])
        return self.cleaned_data[field] or JSON_FIELDS[field][1]

    def clean_headers(self) -> str:
        return self._clean_json("headers")


class TaskAdmin(beat.PeriodicTaskAdmin):
    form = TaskForm

    @admin.action(description=beat.PeriodicTaskAdmin.run_tasks.short_description)
    def run_tasks(self, request: HttpRequest, queryset: QuerySet[PeriodicTask]) -> None:
        """Checks each task first, since it may have been stored without this form."""
        for task in queryset:
            for name in JSON_FIELDS:
                try:
                    check_json(name, getattr(task, name))
                except ValidationError as error:
                    refusal = f"{task.name}, {name}: {' '.join(error.messages)}"
                    self.message_user(request, refusal, messages.ERROR)
                    return
        super().run_tasks(request, queryset)


class ScheduleAdmin(beat.ScheduleAdmin):
    form = ScheduleForm


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
for model, model_admin in ADMINS.items():
    admin.site.unregister(model)
    admin.site.register(model, model_admin)
admin.site.unregister([StaticDevice, TOTPDevice, EmailAddress, Authenticator])
