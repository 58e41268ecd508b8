"""Votes by network and day, for moderators. A network is a keyed digest, from which no address can be found."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from arena.models import Vote

SHOWN = 8
"""Digits of a digest that are shown: enough to tell networks apart."""
LATELY = timedelta(days=7)
MOST = 20


class NetworkDay(NamedTuple):
    """One network on one day (UTC), from which a single person may send many visitors."""

    network: str
    day: date

    def __str__(self) -> str:
        return f"network {self.network[:SHOWN]} on {self.day}"

    def votes(self) -> QuerySet[Vote]:
        start = datetime.combine(self.day, time(), UTC)
        days = Q(voted_at__gte=start, voted_at__lt=start + timedelta(days=1))
        return Vote.objects.filter(days, network=self.network, counted_vote__isnull=False)


def days_of(votes: Iterable[Vote]) -> list[NetworkDay]:
    """The networks and days of these votes, each once, without votes of an unknown network."""
    return sorted({NetworkDay(vote.network, vote.voted_at.astimezone(UTC).date()) for vote in votes if vote.network})


def busiest(network: str = "") -> list[dict[str, Any]]:
    """Per network and day of the last days, or of one `network`: the numbers of `votes`, `visitors`, `addresses` and
    `excluded` votes; most visitors first."""
    votes = Vote.objects.exclude(network="").filter(counted_vote__isnull=False)
    votes = votes.filter(network=network) if network else votes.filter(voted_at__gte=timezone.now() - LATELY)
    groups = votes.order_by().annotate(day=TruncDate("voted_at", tzinfo=UTC)).values("network", "day")
    figures = groups.annotate(
        votes=Count("pk"),
        visitors=Count("user_id", distinct=True),
        addresses=Count("address", distinct=True),
        excluded=Count("pk", filter=Q(counted_vote__excluded=True)),
    )
    return [dict(row) for row in figures.order_by("-visitors", "-votes", "-day", "network")[:MOST]]
