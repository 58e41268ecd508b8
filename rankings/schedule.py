"""What beat does for the rankings, for whoever fills its schedule; a moderator may change it in the admin."""

from __future__ import annotations

BEAT_TASKS = {"hourly aggregation": {"task": "rankings.aggregate", "every_seconds": 3600}}
