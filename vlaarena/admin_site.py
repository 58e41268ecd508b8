"""The admin site: login by password and optional second factor, with limited attempts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, path, reverse

from arena.errors import TooMany
from vlaarena import second_factor
from vlaarena.careful_admin import CarefulAdmin
from vlaarena.login_limits import count_attempt, too_many
from vlaarena.second_factor_pages import LoginForm, second_factor_page


class ArenaAdminSite(AdminSite):
    site_header = site_title = "VLA Arena"
    index_title = "Moderation"
    login_form = LoginForm
    login_template = "admin/arena_login.html"

    def register(
        self,
        model_or_iterable: type[Model] | Iterable[type[Model]],
        admin_class: type[ModelAdmin[Any]] | None = None,
        **options: Any,
    ) -> None:
        """Register with `CarefulAdmin` mixed in, also for third-party apps."""
        base = admin_class or ModelAdmin
        careful = type(base.__name__, (CarefulAdmin, base), {"__module__": base.__module__})
        super().register(model_or_iterable, careful, **options)

    def get_urls(self) -> list[URLResolver | URLPattern]:
        page = path("second-factor/", second_factor_page, {"site": self}, name="second-factor")
        return [page, *super().get_urls()]

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.method == "POST":
            try:
                count_attempt(request, request.POST.get("username", ""))
            except TooMany as refusal:
                return too_many(request, self, refusal)
        elif second_factor.must_enrol(request):
            return HttpResponseRedirect(reverse("admin:second-factor"))
        return super().login(request, extra_context)
