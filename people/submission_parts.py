"""Policies that a visitor submitted: a copy of them, and taking the visitor's traces from them."""

from __future__ import annotations

from collections.abc import Iterator

from people.own_data import Owner, Part, Row
from robots.models import Submission

FORGOTTEN = "(removed)"
COLUMNS = ("model_id", "name", "organization", "license", "provenance", "variant_of", "url", "folder", "contract")


def export_submissions(owner: Owner) -> Iterator[Row]:
    if owner.visitor:
        columns = (*COLUMNS, "contact", "state", "reason", "created_at")
        yield from Submission.objects.filter(visitor=owner.visitor).order_by("pk").values(*columns).iterator()


def forget_submissions(owner: Owner, pseudonym: str) -> None:
    """What models' pages list of it stays; how to reach its owner does not, nor what was not decided yet."""
    if owner.visitor:
        own = Submission.objects.filter(visitor=owner.visitor)
        own.filter(state=Submission.State.WAITING).delete()
        own.update(visitor="", contact=FORGOTTEN)


PARTS = (Part("submissions", export_submissions, forget_submissions),)
