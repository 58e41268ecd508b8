"""What the arena gives away as data, and how it signs it."""

from __future__ import annotations

from datetime import UTC, datetime

from django.core.exceptions import ImproperlyConfigured

from vlaarena import env

# 32 random bytes in base64. Empty: the key follows from the secret key.
SIGNING_KEY = env.text("ARENA_SIGNING_KEY", "").strip()
# The licence of votes, instructions and recordings, as an SPDX identifier, and where its text is. The privacy page
# names it: whoever votes has read there under what terms the data goes out.
DATA_LICENSE = env.text("ARENA_DATA_LICENSE", "CC-BY-4.0").strip()
DATA_LICENSE_URL = env.text("ARENA_DATA_LICENSE_URL", "https://creativecommons.org/licenses/by/4.0/").strip()
# Whether beat writes a dump every hour, for how many days the last dump of each day is kept, and how many hourly ones.
DUMPS = env.flag("ARENA_DUMPS", True)
DUMP_DAYS = int(env.number("ARENA_DUMP_DAYS", 30, 0))
DUMP_HOURS = int(env.number("ARENA_DUMP_HOURS", 24, 1))


def _moment(name: str) -> datetime | None:
    if not (given := env.text(name, "").strip()):
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={given!r}; expected a day such as 2026-11-24") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


# Battles opened before this moment never leave as data. Empty: all may.
DATA_SINCE = _moment("ARENA_DATA_SINCE")
