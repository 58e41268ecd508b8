"""The report that is published with the boards once an hour: all that the pages show, in one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor, Future
from typing import NamedTuple, TypedDict, cast

import numpy as np
from django.conf import settings

from arena.kinds import Kind
from arena.models import Contestant
from arena.shapes import JudgeAgreement
from rankings.analysis import agreement, by_task, settled, style, success_rates, term_boards
from rankings.analysis.agreement import Agreement, AlarmRule
from rankings.analysis.by_task import ByTask
from rankings.analysis.calibration import Calibration, calibration, nothing
from rankings.analysis.settled import Settled
from rankings.analysis.style import ControlledBoard
from rankings.analysis.success_rates import SuccessRow
from rankings.analysis.term_boards import Terms
from rankings.fit.bradley_terry import Fit
from rankings.models import Report, Snapshot
from rankings.publication import integrity, rules
from rankings.publication.integrity import NO_SHADOW, NewFinding, Shadow
from rankings.publication.plan import PairingPlan, pairing_plan, write_plan
from rankings.publication.snapshots import Rated
from rankings.tally.counts import OUTCOMES, Counts
from rankings.tally.facts import VoteFacts
from rankings.tally.matrix import Matrix, matrix
from rankings.tally.table import Board, VoteTable
from rankings.trust.influence import Handover, influence
from rankings.trust.reliability import Reliability
from rankings.trust.standing import standing
from rankings.votes import observed
from rankings.votes.looks import looks_of
from rankings.votes.past_days import Observed

TREND_POINTS = 400
"""Publications that the trend shows: two weeks of hours."""


class Agreements(TypedDict):
    overall: Agreement
    tasks: dict[str, Agreement]
    policies: dict[str, Agreement]


class Exposure(TypedDict):
    """`battles` of the last 30 days; `relative`: in units of an equal share; `planned`: the same for the next hour, 0
    for contestants that are not drawn."""

    battles: int
    relative: float
    planned: float


class Voters(TypedDict):
    """`controls`: calibration battles voted on; `passed`: the share of them that was passed."""

    flagged: int
    controls: int
    passed: float | None


class Removal(TypedDict):
    """The influence of single voters in the component with most votes. `movers`: how many of them could change its top
    three alone; `looked_at` and `complete` as in `trust.influence.Influence`. Components have no order among them."""

    movers: int
    largest: float
    handovers: list[Handover]
    looked_at: int
    complete: bool


NO_REMOVAL: Removal = {"movers": 0, "largest": 0.0, "handovers": [], "looked_at": 0, "complete": True}


class Point(TypedDict):
    at: str
    ratings: dict[str, list[float]]
    """Policy -> rating and half-width."""


class Figures(TypedDict):
    """Of all counted votes; `voters`: how many known ones cast them."""

    votes_by_outcome: dict[str, int]
    votes_by_robot: dict[str, int]
    voters: int


NO_FIGURES: Figures = {"votes_by_outcome": {}, "votes_by_robot": {}, "voters": 0}


class ReportContent(TypedDict):
    """`pairs`: of each two policies, in the order of their names, how the votes on them went, columns as in OUTCOMES;
    the first is taken for the left side. `settled` and `terms`: by the name of a board. `by_task`: by setting.
    `controlled`: by the name of a group of `analysis.style`, of kinds that measure how their sides look.
    `judge`: of kinds with a judge that is no person. `physics_mean_of`: the tasks whose mean `all` of `physics` is.
    `trend`: the global board at each publication, oldest first."""

    figures: Figures
    pairs: dict[str, dict[str, list[int]]]
    matrices: dict[str, Matrix]
    settled: dict[str, Settled]
    by_task: dict[str, ByTask]
    terms: dict[str, Terms]
    controlled: dict[str, ControlledBoard]
    calibration: Calibration
    physics: dict[str, list[SuccessRow]]
    physics_mean_of: list[str]
    agreement: Agreements
    judge: JudgeAgreement | None
    exposure: dict[str, Exposure]
    removal: Removal
    shadow: Shadow
    voters: Voters
    trend: list[Point]


class Written(NamedTuple):
    """A report, and what is stored beside it: findings for moderators, and the plan by which pairs are drawn, None
    before the first vote."""

    content: ReportContent
    findings: list[NewFinding]
    plan: PairingPlan | None


class WholeBoard(NamedTuple):
    """The global board, fitted, and its votes with sides forgotten. `ranked`: its first component."""

    votes: Counts
    fit: Fit
    ranked: set[str]


def terms(table: VoteTable, facts: VoteFacts) -> dict[str, Terms]:
    """Of all the kind's votes. Asks no database."""
    return term_boards.boards(table, facts, cap=rules.options().cap)


def agreements(facts: VoteFacts) -> Agreements:
    """Of all the kind's votes. Asks no database."""
    given = settings.INTEGRITY
    rule = AlarmRule(int(given["parted_votes"]), given["parted_kappa"], given["parted_against"])
    return {
        "overall": agreement.agreement(facts, rule),
        "tasks": agreement.by_task(facts, rule),
        "policies": agreement.by_contestant(facts, rule),
    }


def whole_board(rated: Iterable[Rated]) -> WholeBoard | None:
    """None before the first vote."""
    for each in rated:
        if each.board == Board():
            rows = each.ratings["models"].items()
            ranked = {name for name, row in rows if row["rank_low"] is not None and row["component"] == 1}
            return WholeBoard(each.counts.without_sides(), each.fit, ranked)
    return None


def write_report(
    kind: Kind,
    table: VoteTable,
    rated: Iterable[Rated],
    seen: Observed,
    agreed: Agreements,
    adjusted: Future[dict[str, Terms]],
) -> Written:
    """The report of a kind's snapshot, not stored, without what `tell_influence` and `add_trend` add, which need less
    memory if boards are let go before. `seen`, `agreed`, `adjusted`: of all the kind's votes."""
    boards = {each.board: each for each in rated}
    whole = boards.get(Board())
    played, results = seen
    findings = list(integrity.unreliable(results))
    if whole:
        findings += integrity.outliers(kind, whole.counts, whole.fit)
        findings += integrity.pushed(kind, table, whole.counts, whole.fit)
    flagged = integrity.flagged(kind, findings)
    plan = pairing_plan(kind, whole.fit) if whole else None
    content: ReportContent = {
        # Before the abilities by task: in this order ten million votes need less memory.
        "shadow": integrity.shadow(kind, table, whole.counts, whole.fit, flagged) if whole else NO_SHADOW,
        "figures": _figures(boards),
        "pairs": _pairs(whole),
        "matrices": (matrices := {board.name: _matrix(each) for board, each in boards.items() if board.has_table}),
        "settled": {
            board.name: settled.published(each.fit, matrices[board.name]["names"])
            for board, each in boards.items()
            if board.has_table
        },
        "by_task": {setting: _by_task(kind, table, setting) for setting in table.occurring("setting")},
        "controlled": _controlled(kind, table),
        "physics": success_rates.boards(played),
        "physics_mean_of": success_rates.compared_tasks(played),
        "judge": kind.judge(),
        "exposure": _exposure(kind, plan.weights if plan else {}),
        "removal": NO_REMOVAL,
        "voters": _voters(results, flagged=len(flagged)),
        "agreement": agreed,
        "terms": adjusted.result(),
        "calibration": nothing(),
        "trend": [],
    }
    return Written(content, [*findings, *integrity.partings(content["shadow"], _named(agreed))], plan)


def tell_influence(content: ReportContent, whole: WholeBoard | None, aside: Executor) -> None:
    """Add what single voters, and groups of them, say of the global board. `aside`: a second core, if it is free."""
    if whole:
        removal = aside.submit(_removal, whole)  # the shorter of the two
        content["calibration"] = calibration(whole.votes, cap=rules.options().cap)
        content["removal"] = _removal(whole) if removal.cancel() else removal.result()


def _removal(whole: WholeBoard) -> Removal:
    found = influence(standing(whole.votes, whole.fit, whole.ranked, cap=rules.options().cap))
    return {**found, "movers": len(found["movers"])}


def add_trend(content: ReportContent, kind: Kind, snapshot: Snapshot, whole: WholeBoard | None) -> None:
    """That of the report before, with this publication's point."""
    content["trend"] = _trend(kind, snapshot, whole.fit if whole else None)


def store(kind: Kind, snapshot: Snapshot, written: Written) -> Report:
    """Store a report with its findings and its plan, under the stored snapshot that it is of."""
    integrity.renew(kind, written.findings)
    if written.plan:
        write_plan(kind, written.plan)
    report, _ = Report.objects.update_or_create(snapshot=snapshot, defaults={"content": written.content})
    return report


def latest(kind: Kind) -> Report | None:
    """The current report of a kind, with its snapshot except for the counts file: one query."""
    reports = Report.objects.filter(snapshot__kind=kind.id).select_related("snapshot").defer("snapshot__counts")
    return reports.order_by("-snapshot__made_at").first()


def _figures(boards: Mapping[Board, Rated]) -> Figures:
    whole = boards.get(Board())
    if whole is None:
        return NO_FIGURES
    return {
        "votes_by_outcome": dict(zip(OUTCOMES, whole.counts.by_outcome.tolist(), strict=True)),
        "votes_by_robot": {
            board.setting: each.counts.total for board, each in boards.items() if board.has_table and board.setting
        },
        "voters": whole.counts.voters,
    }


def _pairs(whole: Rated | None) -> dict[str, dict[str, list[int]]]:
    found: dict[str, dict[str, list[int]]] = {}
    if whole is not None:
        pairs = whole.counts.without_sides().per_pair()
        for low, high in np.argwhere(pairs.any(axis=2)).tolist():
            found.setdefault(whole.counts.names[low], {})[whole.counts.names[high]] = pairs[low, high].tolist()
    return found


def _matrix(each: Rated) -> Matrix:
    """Component by component, best first, without references."""
    rating = dict(zip(each.fit.names, each.fit.rating.tolist(), strict=True))
    components = each.ratings["components"]
    return matrix(each.counts, [sorted(names, key=lambda name: (-rating[name], name)) for names in components])


def _by_task(kind: Kind, table: VoteTable, setting: str) -> ByTask:
    """Of the tasks with votes, and of those without, where contestants are known from other tasks."""
    board = Board(setting=setting)
    voted = table.occurring("task", board)
    tasks = [*voted, *(task for task in kind.tasks() if task not in voted)]
    counts = table.votes_by_task(board)
    return by_task.published(by_task.fit_tasks(counts, tasks, cap=rules.options().cap), counts)


def _controlled(kind: Kind, table: VoteTable) -> dict[str, ControlledBoard]:
    looks = looks_of(kind)
    return style.boards(table, looks, cap=rules.options().cap) if looks else {}


def _named(found: Agreements) -> dict[str, Agreement]:
    return {
        "all votes": found["overall"],
        **{f"task {name}": each for name, each in found["tasks"].items()},
        **{f"policy {name}": each for name, each in found["policies"].items()},
    }


def _exposure(kind: Kind, planned: Mapping[str, float]) -> dict[str, Exposure]:
    battles = observed.battles_per_policy()
    listed = Contestant.objects.filter(kind=kind.id, reference=False).values_list("id", flat=True)
    drawn = sum(battles.get(name, 0) for name in listed)
    return {
        name: {
            "battles": battles.get(name, 0),
            "relative": round(battles.get(name, 0) * len(listed) / drawn, 3) if drawn else 0.0,
            "planned": round(planned.get(name, 0.0), 3),
        }
        for name in listed
    }


def _voters(results: dict[str, Reliability], *, flagged: int) -> Voters:
    items = sum(each.items for each in results.values())
    passed = sum(each.score for each in results.values())
    return {
        "flagged": flagged,
        "controls": items,
        "passed": round(passed / items, 4) if items else None,
    }


def _trend(kind: Kind, snapshot: Snapshot, fit: Fit | None) -> list[Point]:
    before = Report.objects.filter(snapshot__kind=kind.id).exclude(pk=snapshot.pk).order_by("-snapshot__made_at")
    earlier = cast("list[Point]", (before.values_list("content", flat=True).first() or {}).get("trend", []))
    if fit is None:
        return earlier
    columns = zip(fit.names, fit.rating.tolist(), fit.half_width.tolist(), strict=True)
    ratings = {name: [round(rating, 1), round(half_width, 1)] for name, rating, half_width in columns}
    return [*earlier[1 - TREND_POINTS :], {"at": snapshot.made_at.isoformat(), "ratings": ratings}]
