"""What an account may ask for."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User

from arena.errors import ArenaError
from arena.visitors.throttles import spend
from studies.models import Study


class TooManyStudies(ArenaError):
    status, code = 409, "too_many_studies"


class TooManyPairs(ArenaError):
    status, code = 422, "too_many_pairs"


def check_size(pairs: int) -> None:
    """Raises TooManyPairs."""
    most = settings.STUDIES["pairs"]
    if pairs > most:
        raise TooManyPairs(f"A study has at most {most} pairs, tasks times seeds; these are {pairs}.", most=most)


def check_open(owner: User) -> None:
    """Whether one more study of this account may wait. Raises TooManyStudies."""
    most = settings.STUDIES["open"]
    if Study.objects.filter(owner=owner, state__in=Study.OPEN).count() >= most:
        raise TooManyStudies(f"At most {most} studies of an account wait or play. Wait for one, or cancel one.")


def check_kept(owner: User) -> None:
    """Raises TooManyStudies."""
    most = settings.STUDIES["kept"]
    if Study.objects.filter(owner=owner).count() >= most:
        raise TooManyStudies(f"At most {most} studies of an account are kept. Delete one first.")


def spend_episodes(owner: User, pairs: int) -> None:
    """Count both sides of these pairs for today. Raises TooMany, and counts none then."""
    spend("episodes", {"account": str(owner.pk)}, times=2 * pairs)
