"""`manage.py second_factor USERNAME`: lets an operator of the machine help a user who lost app and backup codes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django_otp.plugins.otp_static.models import StaticToken

from vlaarena import second_factor


class Command(BaseCommand):
    help = "Show whether an account has a second factor, give it new backup codes, or remove it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--codes", action="store_true", help="replace the backup codes by new ones")
        what.add_argument("--remove", action="store_true", help="remove app and codes: the password alone logs in")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        user = _account(options["username"])
        if options["remove"]:
            second_factor.remove(user)
        elif options["codes"] and not second_factor.is_enrolled(user):
            raise CommandError(f"{user.get_username()} has no second factor, so it needs no backup codes")
        codes = second_factor.new_backup_codes(user) if options["codes"] else []
        enrolled = second_factor.is_enrolled(user)
        left = StaticToken.objects.filter(device__user=user).count()
        if options["json"]:
            self.stdout.write(json.dumps({"username": user.get_username(), "enrolled": enrolled, "codes": codes}))
            return
        state = f"has a second factor and {left} backup codes" if enrolled else "logs in with the password alone"
        self.stdout.write("\n".join([f"{user.get_username()} {state}", *codes]))


def _account(username: str) -> User:
    user = User.objects.filter(username=username).first()
    if user is None:
        known = ", ".join(User.objects.filter(is_staff=True).order_by("username").values_list("username", flat=True))
        raise CommandError(f"there is no account {username!r}; accounts of the staff: {known or 'none'}")
    return user
