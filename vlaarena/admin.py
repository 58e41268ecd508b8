"""The admin of other people's apps: the schedule with our forms, and no keys of anybody's second factor.

Whose own page is `second_factor_pages`.
"""

from __future__ import annotations

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from vlaarena import schedule_admin

__all__ = ["schedule_admin"]  # registers itself
admin.site.unregister([StaticDevice, TOTPDevice])
