"""What is published beside the boards, as JSON: the pages of the leaderboard show the same."""

from __future__ import annotations

from typing import TypedDict, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.schema import answer
from policies.models import Policy
from rankings import calibration, report
from rankings.calibration import Calibration
from rankings.physics import PhysicsRow
from rankings.report import Agreements, Content, Removal


class PublishedReport(TypedDict):
    """Null and empty before the first publication. `physics`: "all" and each task played -> its board."""

    snapshot_at: str | None
    input_hash: str | None
    physics: dict[str, list[PhysicsRow]]
    agreement: Agreements | None
    calibration: Calibration
    influence: Removal | None


class ReportView(APIView):
    @extend_schema(
        operation_id="get_leaderboard_report",
        description=(
            "Beside the boards, published with them: success and progress by physics, agreement of votes and physics, "
            "calibration of predicted against actual votes, and how much hangs on single voters."
        ),
        responses={200: answer(PublishedReport)},
    )
    def get(self, request: Request) -> Response:
        return Response(published_report())


def published_report() -> PublishedReport:
    """What was published last, without the references: they are no contestants."""
    found = report.latest()
    if found is None:
        return {
            "snapshot_at": None,
            "input_hash": None,
            "physics": {},
            "agreement": None,
            "calibration": calibration.nothing(),
            "influence": None,
        }
    content = cast(Content, found.content)
    listed = set(Policy.objects.filter(reference=False).values_list("id", flat=True))
    agreement = content["agreement"]
    by_policy = {name: each for name, each in agreement["policies"].items() if name in listed}
    return {
        "snapshot_at": found.snapshot.made_at.isoformat(),
        "input_hash": found.snapshot.input_hash,
        "physics": {
            board: [row for row in rows if row["model_id"] in listed] for board, rows in content["physics"].items()
        },
        "agreement": {"overall": agreement["overall"], "tasks": agreement["tasks"], "policies": by_policy},
        "calibration": content["calibration"],
        "influence": content["removal"],
    }
