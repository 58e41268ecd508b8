"""The admin pages on which moderators hide a battle or an instruction, or show it again, each with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from arena.audit import REASON_LENGTH
from arena.blind_admin import ModelAdminBase
from arena.errors import ReasonMissing

HIDE = "arena.hide_battle"
Act = Callable[[Any, User, str], bool]


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=REASON_LENGTH, widget=forms.TextInput(attrs={"size": 60}))


class HidingAdmin(ModelAdminBase):
    """Adds the page `<id>/hide/`. `hidden_field`: since when the row is hidden; `hide` and `show`: the two acts."""

    hidden_field = ""
    hidden_thing = ""
    hide: Act
    show: Act

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.hide_page)
        return [path("<path:object_id>/hide/", view, name=f"arena_{self.opts.model_name}_hide"), *super().get_urls()]

    def has_hide_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and request.user.has_perm(HIDE)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *more: Any, **named: Any) -> Any:
        row = named.get("obj")
        if row is not None and self.has_hide_permission(request):
            act = f"Show the {self.hidden_thing} again" if self._is_hidden(row) else f"Hide the {self.hidden_thing}"
            context["hide_act"], context["hide_page"] = act, self._address(row)
        return super().render_change_form(request, context, *more, **named)

    def hide_page(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for a reason. With one, hide the row, or show it again."""
        if not self.has_hide_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and self._act(request, row, form.cleaned_data["reason"]):
            return HttpResponseRedirect(reverse(f"admin:arena_{self.opts.model_name}_change", args=[row.pk]))
        shown = {"row": row, "form": form, "is_hidden": self._is_hidden(row), "thing": self.hidden_thing}
        context = {**self.admin_site.each_context(request), **shown, "opts": self.opts}
        return TemplateResponse(request, "admin/arena/hide.html", {**context, "title": self._title(row)})

    def _act(self, request: HttpRequest, row: Model, reason: str) -> bool:
        """Do what the form's button says, which was made for the state then shown."""
        wanted = type(self).show if "show" in request.POST else type(self).hide
        try:
            changed = wanted(row, cast(User, request.user), reason)
        except ReasonMissing as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
            return False
        state = "public again" if "show" in request.POST else "hidden from the public"
        self.message_user(request, f"The {self.hidden_thing} is {state if changed else f'{state} already'}")
        return True

    def _is_hidden(self, row: Model) -> bool:
        return getattr(row, self.hidden_field) is not None

    def _address(self, row: Model) -> str:
        return reverse(f"admin:arena_{self.opts.model_name}_hide", args=[row.pk])

    def _title(self, row: Model) -> str:
        return f"{'Show' if self._is_hidden(row) else 'Hide'} the {self.hidden_thing}{' again' * self._is_hidden(row)}"
