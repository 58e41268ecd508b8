"""Networks in the list of counted votes: a filter, and a table of the busiest ones."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from arena.models import Vote
from rankings.models import CountedVote
from rankings.moderation.networks import SHOWN, NetworkDay, busiest, days_of

PARAMETER = "network"
KNOWN, NONE = "known", "none"
ONE = re.compile(r"([0-9a-f]{24})(?:@(\d{4}-\d\d-\d\d))?")


class NetworkFilter(admin.SimpleListFilter):
    """`?network=DIGEST` or `?network=DIGEST@DAY`; also the votes with a known network, and those without."""

    title = gettext_lazy("network")
    parameter_name = PARAMETER

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        fixed = [(KNOWN, _("known")), (NONE, _("exempt or old"))]
        wanted = request.GET.get(PARAMETER, "")
        return [*fixed, *([(wanted, _label(wanted))] if ONE.fullmatch(wanted) else [])]

    def queryset(self, request: HttpRequest, queryset: QuerySet[CountedVote]) -> QuerySet[CountedVote]:
        wanted = self.value()
        if wanted is None:
            return queryset
        if wanted in (KNOWN, NONE):
            return queryset.filter(vote__network="") if wanted == NONE else queryset.exclude(vote__network="")
        network, day = parts(str(wanted))
        if day is None:
            return queryset.filter(vote__network=network)
        return queryset.filter(vote__in=NetworkDay(network, day).votes())


def parts(wanted: str) -> tuple[str, date | None]:
    """The digest, and the day or None; raises IncorrectLookupParameters."""
    found = ONE.fullmatch(wanted)
    try:
        if found is not None:
            return found[1], date.fromisoformat(found[2]) if found[2] else None
    except ValueError:
        pass
    raise IncorrectLookupParameters(f"{wanted[:50]!r} is no network")


def link(vote: Vote) -> SafeString | str:
    """A link to the votes of this one's network and day."""
    return "".join(_link(each) for each in days_of([vote])) or "–"


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """Rows of the table above the list: of the filtered network, or else of the busiest ones."""
    found = ONE.fullmatch(request.GET.get(PARAMETER, ""))
    rows = busiest(found[1] if found else "")
    return [{**row, "link": _link(NetworkDay(row["network"], row["day"]))} for row in rows]


def _link(where: NetworkDay) -> SafeString:
    address = reverse("admin:rankings_countedvote_changelist")
    return format_html(
        '<a href="{}?{}={}@{}">{}</a>', address, PARAMETER, where.network, where.day, where.network[:SHOWN]
    )


def _label(wanted: str) -> str:
    return wanted.replace(wanted[SHOWN:24], "", 1).replace("@", " ")
