"""The admin of third-party apps: the schedule uses our forms, and second-factor keys are not listed.

Users manage their own second factor in `second_factor_pages`.
"""

from __future__ import annotations

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from vlaarena import schedule_admin

__all__ = ["schedule_admin"]  # registers itself
admin.site.unregister([StaticDevice, TOTPDevice])
