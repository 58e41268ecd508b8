"""Django's admin with our site in place of its own. Not in apps.py, where it would pass for our configuration."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class ArenaAdminConfig(AdminConfig):
    default_site = "vlaarena.admin_site.ArenaAdminSite"
