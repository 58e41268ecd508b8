"""Django's admin with our site class. It is not in apps.py, where Django would take it for our own configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks
from django.urls import get_resolver


class ArenaAdminConfig(SimpleAdminConfig):
    """Registers nothing by itself: the addresses of the site do (vlaarena/urls.py), so that workers and commands, which
    serve no page, do not load what moderators use."""

    default_site = "vlaarena.admin_site.ArenaAdminSite"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_registered, checks.Tags.admin)


def check_registered(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[Any]:
    """Django's check of all that is registered, once it is."""
    _ = get_resolver().url_patterns
    found: list[Any] = check_admin_app(app_configs, **options)
    return found
