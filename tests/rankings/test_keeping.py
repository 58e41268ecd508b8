"""Old publications are thinned out to one a day; what holds now is never lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from rankings.models import Report, Snapshot
from rankings.publication import aggregation
from rankings.publication.retention import thin_out
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db


def publish(moment: datetime) -> Snapshot:
    made = Snapshot.objects.create(made_at=moment, input_hash="0" * 64, code_version="1", counts=b"")
    Report.objects.create(snapshot=made)
    return made


def midnight(days_ago: int) -> datetime:
    return datetime.combine(timezone.now().astimezone(UTC).date() - timedelta(days=days_ago), datetime.min.time(), UTC)


def test_old_days_keep_their_last_publication_and_recent_ones_all(settings: Any) -> None:
    settings.SNAPSHOT_DAYS = 7.0
    old = [publish(midnight(days) + timedelta(hours=hour)) for days in (30, 20) for hour in (1, 12, 23)]
    recent = [publish(midnight(3) + timedelta(hours=hour)) for hour in (1, 2)]
    assert thin_out() == 4
    assert set(Snapshot.objects.all()) == {old[2], old[5], *recent}
    assert Report.objects.count() == 4
    assert thin_out() == 0


def test_zero_days_keep_all_for_ever(settings: Any) -> None:
    settings.SNAPSHOT_DAYS = 0.0
    for hour in range(3):
        publish(midnight(400) + timedelta(hours=hour))
    assert (thin_out(), Snapshot.objects.count()) == (0, 3)


def test_the_publication_that_holds_stays_however_old_it_is(settings: Any) -> None:
    settings.SNAPSHOT_DAYS = 7.0
    cast(ballots(("a", "b", "left_better", 6)))
    aggregation.aggregate()
    Snapshot.objects.update(made_at=midnight(100))
    aggregation.aggregate()
    assert Snapshot.objects.count() == 1
