"""All that is published beside the boards, as JSON; the leaderboard's pages show the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypedDict, TypeVar, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import kinds
from arena.api.schema import answer, refusals
from arena.kinds import Kind
from arena.shapes import JudgeAgreement
from rankings.analysis import calibration, settled
from rankings.analysis.calibration import Calibration
from rankings.analysis.settled import Settled
from rankings.analysis.style import ControlledBoard
from rankings.analysis.success_rates import SuccessRow
from rankings.analysis.term_boards import Terms
from rankings.analysis.terms import AdjustedBoard as TermBoard
from rankings.api.pair_queries import KIND
from rankings.publication.integrity import Shadow
from rankings.publication.published import current
from rankings.publication.report import Agreements, Exposure, Point, Removal, ReportContent, Voters
from rankings.tally.matrix import Matrix, only

Row = TypeVar("Row")


class PublishedReport(TypedDict):
    """Null and empty before the first publication. `physics`: "all" and each task played -> its board; "all" is the
    mean over the tasks in `physics_mean_of`. `matrices`, `settled` and `terms`: by the name of a board. `controlled`:
    by group ("all", "category=code", "language=de"), of kinds whose ratings are controlled for style. `influence` is
    about the component with most votes. `judge`: of kinds with a judge that is no person, such as voice; else null.
    `exposure`, and `ratings` of a point of the `trend`: by model_id."""

    snapshot_at: str | None
    input_hash: str | None
    code_version: str | None
    matrices: dict[str, Matrix]
    settled: dict[str, Settled]
    terms: dict[str, Terms]
    controlled: dict[str, ControlledBoard]
    physics: dict[str, list[SuccessRow]]
    physics_mean_of: list[str]
    agreement: Agreements | None
    judge: JudgeAgreement | None
    calibration: Calibration
    influence: Removal | None
    shadow: Shadow | None
    voters: Voters | None
    exposure: dict[str, Exposure]
    trend: list[Point]


class ReportView(APIView):
    @extend_schema(
        operation_id="get_leaderboard_report",
        summary="The report on votes and voters",
        description=(
            "Beside the boards, published with them: votes of each pair, which pairs are settled, ratings with all "
            "else equal, ratings controlled for length and style, success and progress by physics, agreement "
            "of votes and physics, and of votes and a judge by a language model, calibration of predicted and actual "
            "votes, how much hangs on single voters, ratings without new and doubtful voters, how often each policy is "
            "drawn, and the ratings over time."
        ),
        parameters=[KIND],
        responses={200: answer(PublishedReport), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        return Response(published_report(kinds.named(request.query_params.get("kind"))))


def published_report(kind: Kind) -> PublishedReport:
    """The last publication of a kind, without references, which are no contestants."""
    now = current(kind)
    snapshot, listed = now.published.snapshot, now.names
    content = cast(ReportContent, now.published.content or {})
    agreement, shadow = content.get("agreement"), content.get("shadow")
    return {
        "snapshot_at": snapshot.made_at.isoformat() if snapshot else None,
        "input_hash": snapshot.input_hash if snapshot else None,
        "code_version": snapshot.code_version if snapshot else None,
        "matrices": {board: only(matrix, listed) for board, matrix in content.get("matrices", {}).items()},
        "settled": {board: settled.only(each, listed) for board, each in content.get("settled", {}).items()},
        "terms": {board: _terms(each, listed) for board, each in content.get("terms", {}).items()},
        "controlled": {group: _controlled(each, listed) for group, each in content.get("controlled", {}).items()},
        "physics": {
            board: [row for row in rows if row["model_id"] in listed]
            for board, rows in content.get("physics", {}).items()
        },
        "physics_mean_of": content.get("physics_mean_of", []),
        "agreement": {**agreement, "policies": _listed(agreement["policies"], listed)} if agreement else None,
        "judge": content.get("judge"),
        "calibration": content.get("calibration", calibration.nothing()),
        "influence": content.get("removal"),
        "shadow": {**shadow, "rows": _listed(shadow["rows"], listed)} if shadow else None,
        "voters": content.get("voters"),
        "exposure": _listed(content.get("exposure", {}), listed),
        "trend": [{**point, "ratings": _listed(point["ratings"], listed)} for point in content.get("trend", [])],
    }


def _listed(rows: Mapping[str, Row], names: Collection[str]) -> dict[str, Row]:
    return {name: row for name, row in rows.items() if name in names}


def _terms(each: Terms, names: Collection[str]) -> Terms:
    return {"equal": _own(each["equal"], names), "beyond": _own(each["beyond"], names)}


def _controlled(each: ControlledBoard, names: Collection[str]) -> ControlledBoard:
    plain, length, style = (_own(each[name], names) for name in ("plain", "length", "style"))
    return {"plain": plain, "length": length, "style": style}


def _own(board: TermBoard, names: Collection[str]) -> TermBoard:
    return {**board, "models": _listed(board["models"], names)}
