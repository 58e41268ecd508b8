"""Checks for votes that should not count: findings for moderators, and the board without doubtful voters."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple, TypedDict

import numpy as np
from django.conf import settings
from django.utils import timezone

from arena.kinds import Kind
from rankings.analysis.agreement import Agreement
from rankings.fit.bradley_terry import Fit, fit, ratings_of
from rankings.models import Finding, Report
from rankings.tally.arrays import Floats
from rankings.tally.counts import Counts
from rankings.tally.table import VoteTable
from rankings.trust.campaigns import Campaign, campaigns, strongest
from rankings.trust.limits import LATELY
from rankings.trust.outliers import PooledVotes, evidence
from rankings.trust.reliability import Reliability
from rankings.votes import observed

DOUBTFUL = (Finding.Kind.OUTLIER, Finding.Kind.UNRELIABLE)
"""Findings whose subject is a voter. Findings of campaigns list their voters in the evidence."""
MOST_NAMED = 2000
LEAST_SHADOW_VOTES = 5
"""A policy with fewer votes left has no shadow rating."""


class NewFinding(NamedTuple):
    kind: str
    subject: str
    summary: str
    evidence: dict[str, object]


class ShadowRow(TypedDict):
    """`shadow`: the rating without new and flagged voters; null where too few votes are left. `parted`: it lies outside
    the published interval."""

    rating: float
    shadow: float | None
    parted: bool


class Shadow(TypedDict):
    """`left_out` voters with `votes` votes are new or flagged."""

    left_out: int
    votes: int
    rows: dict[str, ShadowRow]


NO_SHADOW: Shadow = {"left_out": 0, "votes": 0, "rows": {}}


def shadow(kind: Kind, table: VoteTable, counts: Counts, found: Fit, flagged: Collection[str]) -> Shadow:
    """The global board without voters who are new, `flagged` by an open finding, or both."""
    since = timezone.now() - timedelta(hours=settings.INTEGRITY["new_hours"])
    new = observed.new_voters(kind, table, since, int(settings.INTEGRITY["new_votes"]))
    doubtful = new.union(flagged)
    rest = table.counts(without_voters=doubtful).without_sides()
    ratings = ratings_of(rest, cap=int(settings.RANKING["cap"])).tolist()
    votes = dict(zip(rest.names, rest.per_policy().sum(axis=1).tolist(), strict=True))
    shadows = dict(zip(rest.names, ratings, strict=True))
    rows: dict[str, ShadowRow] = {}
    for name, rating, half_width in zip(found.names, found.rating.tolist(), found.half_width.tolist(), strict=True):
        known = votes.get(name, 0) >= LEAST_SHADOW_VOTES
        rows[name] = {
            "rating": round(rating, 2),
            "shadow": round(shadows[name], 2) if known else None,
            "parted": known and abs(shadows[name] - rating) > half_width,
        }
    return {"left_out": len(table.numbers_of(doubtful)), "votes": counts.total - rest.total, "rows": rows}


def flagged(kind: Kind, new: Iterable[NewFinding] = ()) -> dict[str, list[str]]:
    """Voter -> the kinds of open findings about it in a kind of arena. `new`: as if `renew` had stored them."""
    stored = Finding.objects.filter(kind__in=(*DOUBTFUL, Finding.Kind.CAMPAIGN), arena__in=("", kind.id))
    again = {(each.kind, each.subject): each for each in _rows(kind, new)}
    closed = stored.exclude(state=Finding.State.OPEN).filter(arena=kind.id).values_list("kind", "subject")
    fresh = [again[key] for key in again.keys() - set(closed if again else ())]
    old = stored.filter(state=Finding.State.OPEN).order_by("pk")
    rest = [each for each in old if each.arena != kind.id or (each.kind, each.subject) not in again]
    found: dict[str, list[str]] = {}
    for each in (*rest, *fresh):
        for voter in voters_of(each):
            found.setdefault(voter, []).append(each.kind)
    return found


def voters_of(finding: Finding) -> list[str]:
    """The voters that a finding is about; empty for findings about a policy or a task."""
    if finding.kind == Finding.Kind.CAMPAIGN:
        return [str(voter) for voter in finding.evidence.get("voters", [])]
    return [finding.subject] if finding.kind in DOUBTFUL else []


def outliers(kind: Kind, counts: Counts, found: Fit) -> Iterator[NewFinding]:
    """Voters whose votes are unlike everybody else's, among those with votes since the last report."""
    crowd = PooledVotes(found.names, counts.per_pair(), found.rating)
    alpha = float(settings.INTEGRITY["alpha"])
    for cast in observed.cast_by_voter(kind, found.names, _untested_since(kind)):
        seen = evidence(crowd, cast.left, cast.right, cast.outcome, enough=alpha)
        if seen.suspicious(alpha):
            summary = f"{seen.way}: 10^{seen.log10_e:.1f} to 1 after {seen.votes} votes that are like nobody else's"
            proof: dict[str, object] = {"log10_e": round(seen.log10_e, 2), "votes": seen.votes, "way": seen.way}
            yield NewFinding(Finding.Kind.OUTLIER, cast.voter, summary, proof)


def _untested_since(kind: Kind) -> datetime:
    """An hour before the last report: a vote is timed before its transaction waits for the lock."""
    earliest = timezone.now() - timedelta(days=settings.INTEGRITY["look_back_days"])
    reports = Report.objects.filter(snapshot__kind=kind.id).order_by("-snapshot__made_at")
    last = reports.values_list("snapshot__made_at", flat=True).first()
    return max(earliest, last - timedelta(hours=1)) if last else earliest


def pushed(kind: Kind, table: VoteTable, counts: Counts, found: Fit) -> Iterator[NewFinding]:
    """Campaigns of new voters on the global board: of the last days' voters, and of all newcomers to `limits`."""
    spans = sorted({int(settings.INTEGRITY["look_back_days"]), LATELY})
    week = date.fromisoformat(table.values["day"][-1]).strftime("%G-W%V") if table.new_voters(LATELY) else ""
    for each in strongest(each for days in spans for each in _campaigns(kind, table, counts, found, days)):
        yield _campaign(each, table, week)


def _campaigns(kind: Kind, table: VoteTable, counts: Counts, found: Fit, days: int) -> list[Campaign]:
    """Among voters first seen within the last days, compared with a board on which they have proven nothing: what they
    have moved already must not hide them."""
    names = table.new_voters(days)
    doubted = table.doubting(names) if table.trust is not None else table
    board = found if doubted is table else fit(doubted.counts(), cap=int(settings.RANKING["cap"]))
    numbers = table.numbers_of(names)

    def paces(members: Collection[int]) -> tuple[Floats, Floats]:
        own = set(table.voters_of(members))
        known = observed.paces(kind, names)
        return (
            np.array([pace for voter, pace in known.items() if voter in own]),
            np.array([pace for voter, pace in known.items() if voter not in own]),
        )

    return campaigns(counts, board, numbers, paces)


def _campaign(each: Campaign, table: VoteTable, week: str) -> NewFinding:
    voters = table.voters_of(each.voters)
    networks = {network for voter, network in table.sources(voters) if network}
    direction = "for" if each.favours else "against"
    summary = (
        f"{len(voters)} new voters of {len(networks)} networks push it: {each.push:.1f} standard deviations beyond "
        f"honest newcomers; pairs {each.pairs:.1f}, pace {each.pace:.1f}"
    )
    proof: dict[str, object] = {
        "policy": each.policy,
        **{name: round(getattr(each, name), 2) for name in ("push", "pairs", "pace")},
        "votes": each.votes,
        "networks": sorted(networks),
        "voters": voters[:MOST_NAMED],
    }
    return NewFinding(Finding.Kind.CAMPAIGN, f"{direction} {each.policy}, {week}", summary, proof)


def unreliable(results: dict[str, Reliability]) -> Iterator[NewFinding]:
    """Voters who often name the other policy when the sides are swapped."""
    for voter, known in results.items():
        if known.unreliable:
            summary = f"named the other policy in {known.other} of {known.same + known.other} repeats with a winner"
            proof: dict[str, object] = {"items": known.items, "score": known.score, "other": known.other}
            yield NewFinding(Finding.Kind.UNRELIABLE, voter, summary, proof)


def partings(shadows: Shadow, agreements: dict[str, Agreement]) -> list[NewFinding]:
    """`agreements`: "all votes", "task ..." or "policy ..." -> how votes agree with success there."""
    moved = [
        NewFinding(
            Finding.Kind.SHADOW,
            name,
            f"rated {row['rating']:.0f}, and {row['shadow']:.0f} without new and flagged voters",
            dict(row),
        )
        for name, row in shadows["rows"].items()
        if row["parted"] and row["shadow"] is not None and math.isfinite(row["shadow"])
    ]
    apart = [
        NewFinding(
            Finding.Kind.PARTED, where, _in_words(each), {"kappa": each["kappa"], "against": dict(each["against"])}
        )
        for where, each in agreements.items()
        if each["parted"]
    ]
    return [*moved, *apart]


def _in_words(each: Agreement) -> str:
    against = each["against"]
    kappa = "undefined" if each["kappa"] is None else f"{each['kappa']:.2f}"
    share = (
        ""
        if against["share"] is None
        else f"; {100 * against['share']:.0f} % of {against['votes']} votes go to who failed"
    )
    return f"kappa {kappa}{share}"


def renew(kind: Kind, found: Iterable[NewFinding]) -> None:
    """Store the findings of a kind of arena. A finding that is found again is updated and keeps its state. One that is
    no longer found stays until a moderator decides."""
    Finding.objects.bulk_create(
        _rows(kind, found),
        update_conflicts=True,
        unique_fields=["kind", "arena", "subject"],
        update_fields=["summary", "evidence", "renewed_at"],
    )


def _rows(kind: Kind, found: Iterable[NewFinding]) -> list[Finding]:
    return [
        Finding(kind=what, arena=kind.id, subject=subject[:255], summary=summary[:500], evidence=evidence)
        for what, subject, summary, evidence in found
    ]
