"""What the header of every page says about accounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest


def context(request: HttpRequest) -> dict[str, Any]:
    """`accounts`: whether there are any. `mail_folder`: where mails are written for want of a server. `logged_in`:
    whether the browser may be, by its cookie. Neither session nor database is asked, since every page shows this."""
    folder = {"mail_folder": Path(settings.EMAIL_FILE_PATH).name} if settings.EMAIL_FILE_PATH else {}
    return {**folder, "accounts": settings.ACCOUNTS, "logged_in": settings.SESSION_COOKIE_NAME in request.COOKIES}
