"""What nobody needs any more: addresses that were never confirmed, ended logins, and mails in files."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from people.models import VISITOR

KEPT_FOR = timedelta(days=1)
"""Codes are valid for minutes."""


def expire() -> None:
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    forget_unconfirmed()
    delete_old_mails()


def forget_unconfirmed() -> int:
    """Delete who asked for an account and never entered the code: the address may be a stranger's."""
    visitors = User.objects.filter(username__startswith=VISITOR, is_staff=False, is_superuser=False)
    never_came = visitors.filter(last_login=None, account=None, date_joined__lt=timezone.now() - KEPT_FOR)
    return never_came.delete()[1].get("auth.User", 0)


def delete_old_mails() -> None:
    """Of those that are written into a folder for want of a mail server."""
    folder, oldest = Path(settings.EMAIL_FILE_PATH or ""), (timezone.now() - KEPT_FOR).timestamp()
    if settings.EMAIL_FILE_PATH and folder.is_dir():
        for file in folder.glob("*.log"):
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
