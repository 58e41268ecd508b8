"""A site that signs cookies needs a key of its own."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def refuse_built_in_secret() -> None:
    """Raise ImproperlyConfigured when the site would sign with the key that everybody can read in the source."""
    if settings.SECRET_KEY == settings.BUILT_IN_SECRET_KEY:
        raise ImproperlyConfigured(
            "no secret key: set ARENA_SECRET_KEY to 50 random characters, or start with `manage.py up`, which makes one"
        )
