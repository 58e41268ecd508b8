"""A crowd of one meets the arena as everybody does, through HTTP, and moves nobody: limits, line, pairs, networks,
weights and the hourly publication as shipped. `make test-crowd` does the same with a thousand votes, and for days.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from arena.models import Vote
from rankings.study.ballots import Honest
from tests.honest_arena import Clock, Published, as_shipped, campaigns_for, drawn_most, fill
from tests.pushers import Push, Pushers

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock() -> Iterator[Clock]:
    with as_shipped() as clock:
        yield clock


@pytest.fixture
def pushers(clock: Clock) -> Pushers:
    """Beside honest votes that are published. They push the policy whose rating is known least, which moves most."""
    skills, published = fill(seed=1, crowd=Honest(votes=2000, voters=250, contestants=6)), Published(clock)
    published.now()
    return Pushers(drawn_most(), skills, clock, published)


def test_fresh_cookies_of_one_network_move_nobody_by_more_than_10_points_and_are_named(pushers: Pushers) -> None:
    pushers.push(Push(votes=60, cookies=60))
    assert pushers.published.moved() <= 10
    assert campaigns_for(pushers.target)
    assert Vote.objects.exclude(user_id__startswith="honest").values("user_id").distinct().count() == 60


def test_cookies_of_17_networks_move_nobody_by_more_than_20_points(pushers: Pushers) -> None:
    pushers.push(Push(votes=102, cookies=34, networks=17))
    assert pushers.published.moved() <= 20


def test_pushers_are_limited_and_asked_for_work_like_anybody_and_go_on(pushers: Pushers, settings: Any) -> None:
    settings.CHALLENGE, settings.CHALLENGE_AFTER, settings.CHALLENGE_BITS = "proof-of-work", 5, 8
    pushers.push(Push(votes=14, cookies=1))
    assert pushers.refused[428] >= 8
    assert pushers.refused[429] >= 1, "ten votes a minute"
    assert pushers.accepted == 14
    assert pushers.published.moved() <= 10
