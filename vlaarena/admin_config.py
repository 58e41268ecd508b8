"""Django's admin with our site class. It is not in apps.py, where Django would take it for our own configuration."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ArenaAdminConfig(AdminConfig):
    default_site = "vlaarena.admin_site.ArenaAdminSite"
