"""The method page with the current limits, and the counts of a publication as a file."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse

from rankings.models import Snapshot
from rankings.pages.base import asked_kind, board_page
from rankings.publication.published import current
from rankings.tally.weights import NEWCOMER, PROVEN
from rankings.trust.limits import COHORT, NETWORK


def method(request: HttpRequest) -> HttpResponse:
    return board_page(
        request,
        "method",
        current(asked_kind(request)),
        ranking=settings.RANKING,
        integrity=settings.INTEGRITY,
        repeat_percent=100 * settings.REPEAT_SHARE,
        trust={"newcomer": round(100 * NEWCOMER), "proven": PROVEN},
        limits={"network": round(NETWORK), "cohort": round(COHORT)},
    )


def counts_file(request: HttpRequest, input_hash: str) -> HttpResponse:
    """The counts that a snapshot was fitted to. `input_hash` is the SHA-256 of the CSV in the file."""
    counts = Snapshot.objects.filter(input_hash=input_hash).values_list("counts", flat=True).first()
    if counts is None:
        raise Http404
    response = HttpResponse(bytes(counts), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="vla-arena-counts-{input_hash[:12]}.csv.gz"'
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
