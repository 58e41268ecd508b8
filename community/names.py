"""What people are called beside what they write."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils.translation import gettext


def display_name(user: User) -> str:
    """Never the name or the address that somebody logs in with."""
    return user.get_short_name() or gettext("a visitor")
