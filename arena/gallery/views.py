"""Counting who watches a shared battle: once a day for each network.

It needs no cookie, and does not keep who it was.
"""

from __future__ import annotations

import re

from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.gallery import browsing
from arena.models import GalleryEntry
from arena.visitors.networks import prefixes_of
from arena.visitors.throttles import ip_of

BOTS = re.compile(r"bot|crawl|spider|slurp|preview|fetch|curl|wget|python|http|lighthouse", re.IGNORECASE)
DAY_S = 86_400


def note_view(request: HttpRequest, entry: GalleryEntry) -> None:
    """Count a visit of the shared page, unless its network has been counted today or it names itself as a program."""
    agent = request.headers.get("User-Agent", "")
    if not agent or BOTS.search(agent) or request.headers.get("Sec-Purpose", "").startswith("prefetch"):
        return
    network = prefixes_of(ip_of(request))["network"]
    who = salted_hmac("arena.view", f"{timezone.now().date()} {network} {entry.pk}").hexdigest()[:24]
    if cache.add(f"arena:view:{who}", 1, timeout=DAY_S):
        browsing.note_view(entry)
