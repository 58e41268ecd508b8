"""Reads shaped for the leaderboard; the API and the page show the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, Literal

from django.db.models import Count

from arena import kinds
from arena.kinds import Kind, Place
from arena.models import Battle, BattleStatus, Contestant, ContestantStatus, ProcessingStatus, Vote, VoteChoice
from rankings.api import choices
from rankings.api.pair_queries import called_in, check_names
from rankings.api.shapes import Component, Leaderboard, LeaderboardStatistics, RankingRow, WorkerState
from rankings.fit.ratings import Rating
from rankings.fit.standings import MINIMUM_VOTES, Standing, unvoted
from rankings.models import WorkerStatus
from rankings.publication import published, rules
from rankings.publication.aggregation import worker_status
from rankings.publication.published import Current, Published
from rankings.publication.report import NO_FIGURES
from rankings.tally.table import GLOBAL, Board
from rankings.votes.locking import WORKER

Order = Literal["asc", "desc"]
SORTS: dict[str, tuple[Callable[[RankingRow], Any], Order]] = {
    "elo": (lambda row: row["elo_score"], "desc"),
    "votes": (lambda row: row["vote_count"], "desc"),
    "win_rate": (lambda row: row["win_count"] / max(row["vote_count"], 1), "desc"),
    "name": (lambda row: row["name"].casefold(), "asc"),
}
"""Sort name -> (key, order unless asked otherwise)."""


@dataclass(frozen=True)
class LeaderboardQuery:
    """Which board to show, and how. Empty text means all of them, and for `kind` the default one.

    In an address `setting`, `scene` and `division` have the names that the kind gives them.
    """

    kind: str = ""
    setting: str = ""
    scene: str = ""
    task: str = ""
    division: str = ""
    organization: str = ""
    family: str = ""
    search: str = ""
    sort: str = "elo"
    order: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> LeaderboardQuery:
        """From the parameters of an address; unknown parameters are ignored."""
        called = called_in(parameters)
        names = {field.name: called.get(field.name, field.name) for field in fields(cls)}
        given = {name: parameters.get(asked, "") for name, asked in names.items() if asked}
        return cls(**{name: value for name, value in given.items() if value})

    def check(self, kind: Kind, now: Published, divisions: Collection[str]) -> None:
        """Raise UnknownName for a setting, scene, task, division, sort or order that does not exist."""
        check_names(
            (kind.words.setting, self.setting, choices.settings_of(kind, now)),
            (kind.words.scene, self.scene, choices.scenes_of(kind, now, self.setting)),
            ("task", self.task, choices.tasks_of(kind, now)),
            (kind.divided_by, self.division, divisions),
            ("sort", self.sort, SORTS),
            ("order", self.order, ("asc", "desc")),
        )

    @property
    def board(self) -> Board:
        return Board(self.setting, self.scene, self.task, self.division)


def leaderboard(query: LeaderboardQuery, current: Current | None = None) -> Leaderboard:
    """One board, ranked as a whole, then filtered and sorted: a filter never changes a rank.

    `current`: what was already read of the kind. Raises UnknownName.
    """
    kind = kinds.named(query.kind)
    _, listed, now = current or published.current(kind)
    members = divided(kind, listed)
    divisions = choices.divisions_of(kind, now, members)
    query.check(kind, now, divisions)
    policies = {each.pk: each for each in (members.get(query.division, []) if query.division else listed)}
    kept, settled = now.board(query.board.name), rules.options().thresholds
    rows = _rows(kind, policies, query, now)
    shown = _sorted([row for row in rows if _fits(query, row)], query)
    return {
        "rankings": [row for row in shown if row["vote_count"] >= MINIMUM_VOTES],
        "provisional": [row for row in shown if row["vote_count"] < MINIMUM_VOTES],
        "metadata": {
            "kind": kind.id,
            "board": "/".join(filter(None, (query.setting, query.scene, query.task, query.division))) or GLOBAL,
            "setting": query.setting,
            "scene": query.scene,
            "task": query.task,
            "division": query.division,
            "total_models": len(rows),
            "total_votes": sum(row["vote_count"] for row in rows) // 2,
            "last_updated": _iso(now.at),
            "minimum_votes": MINIMUM_VOTES,
            "provisional_until": {
                "half_width": settled.half_width,
                "votes": settled.votes,
                "opponents": settled.opponents,
            },
            "side_advantage": kept.get("side_advantage"),
            "components": _components(rows, kept),
            "robots": sorted(choices.settings_of(kind, now)),
            "scenes": sorted(choices.scenes_of(kind, now)),
            "tasks": sorted(choices.tasks_of(kind, now)),
            "divisions": divisions,
            "organizations": sorted({row["organization"] for row in rows} - {""}),
            "families": sorted({row["family"] for row in rows}),
        },
    }


def divided(kind: Kind, listed: Iterable[Contestant]) -> dict[str, list[Contestant]]:
    """Division -> those of the contestants of a kind that are in it."""
    found: dict[str, list[Contestant]] = {}
    for each in listed if kind.divided_by else ():
        found.setdefault(kind.facts(each)[kind.divided_by], []).append(each)
    return found


def statistics(kind: Kind) -> LeaderboardStatistics:
    _, listed, now = published.current(kind)
    figures = now.content.get("figures", NO_FIGURES) if now.content else NO_FIGURES
    outcomes = dict.fromkeys(VoteChoice.values, 0) | figures["votes_by_outcome"]
    robots = dict.fromkeys(kind.places(), 0) | figures["votes_by_robot"]
    voted = Battle.objects.filter(session__kind=kind.id, status=BattleStatus.VOTED, spoiled=False).order_by()
    decisive = outcomes[VoteChoice.LEFT_BETTER] + outcomes[VoteChoice.RIGHT_BETTER]
    return {
        "total_models": len(listed),
        "total_votes": sum(outcomes.values()),
        "total_voters": figures["voters"],
        "total_battles": voted.count(),
        "total_sessions": voted.values("session_id").distinct().count(),
        "votes_by_outcome": outcomes,
        "votes_by_robot": robots,
        "left_win_share": round(outcomes[VoteChoice.LEFT_BETTER] / decisive, 4) if decisive else None,
        "last_updated": _iso(now.at),
    }


def worker(kind: Kind | None = None, *, with_errors: bool) -> WorkerState:
    """What the aggregation did last, and how many votes wait, those of one `kind` or of all."""
    status = worker_status() or WorkerStatus(status="never run")
    unprocessed = (ProcessingStatus.PENDING, ProcessingStatus.FAILED)  # by name: an index finds these, not "all but"
    votes = Vote.objects.filter(processing_status__in=unprocessed, **({"kind": kind.id} if kind else {}))
    waiting = dict(votes.order_by().values_list("processing_status").annotate(count=Count("pk")))
    return {
        "worker_name": WORKER,
        "status": status.status,
        "last_run_at": _iso(status.last_run_at),
        "votes_processed": status.votes_processed,
        "pending_votes": waiting.get(ProcessingStatus.PENDING, 0),
        "failed_votes": waiting.get(ProcessingStatus.FAILED, 0),
        "error_message": status.error_message if with_errors else None,
    }


def _rows(kind: Kind, policies: Mapping[str, Contestant], query: LeaderboardQuery, now: Published) -> list[RankingRow]:
    """Of every contestant with a vote on the board, then of the active ones without that play there."""
    board = query.board.name
    voted = [each for each in now.standings.get(board, []) if each.model_id in policies]
    active = {name for name, policy in policies.items() if policy.status == ContestantStatus.ACTIVE}
    others = _playing_there(kind, query, active - {each.model_id for each in voted})
    rated, kept, components = now.rows(board), now.board(board), now.components(board, policies)
    ranks = ranks_within(voted, components, rated)
    shares, some = _shares(kept), kept.get("played_on", {})
    return [
        _row(
            kind,
            policies[each.model_id],
            each,
            rated.get(each.model_id, {}),
            component=components.get(each.model_id),
            rank=ranks.get(each.model_id),
            settings=some.get(each.model_id) or sorted(shares.get(each.model_id, {})),
        )
        for each in (*voted, *map(unvoted, sorted(others)))
    ]


def _playing_there(kind: Kind, query: LeaderboardQuery, names: Collection[str]) -> set[str]:
    """Those who may be drawn in one of the board's places; all where the board is of no setting and no scene."""
    if not names or not (query.setting or query.scene):
        return set(names)
    known = kind.known_places()
    settings = [query.setting] if query.setting else known
    places = [Place(each, scene) for each in settings for scene in known[each] if query.scene in ("", scene)]
    playing = reduce(or_, map(kind.eligible, places))
    return set(playing.filter(pk__in=names).values_list("pk", flat=True))


def ranks_within(board: Iterable[Standing], component: Mapping[str, int], rows: Mapping[str, Rating]) -> dict[str, int]:
    """Ranks from 1 within each component. Equal scores share a rank, and the ranks after them are skipped, unless votes
    settle the order of two that differ by less than a point."""
    scores = {each.model_id: each.elo_score for each in board if not each.provisional and each.model_id in component}
    found = {}
    for name, score in scores.items():
        ahead = sum(other > score and component[rival] == component[name] for rival, other in scores.items())
        low, high = rows[name]["rank_low"], rows[name]["rank_high"]
        found[name] = min(max(1 + ahead, low or 1), high or 1 + ahead)
    return found


def _shares(kept: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Contestant -> the shares of settings in its component's ratings. `kept`: a board of a snapshot."""
    over = zip(kept.get("components", []), kept.get("robots", []), strict=False)
    return {member: shares for members, shares in over for member in members}


def _components(rows: Iterable[RankingRow], kept: Mapping[str, Any]) -> list[Component]:
    members: dict[int, list[RankingRow]] = {}
    for row in rows:
        if row["component"]:
            members.setdefault(row["component"], []).append(row)
    shares = _shares(kept)
    return [
        {
            "component": number,
            "models": len(own),
            "votes": sum(row["vote_count"] for row in own) // 2,
            "robots": [
                {"robot_id": setting, "share": share} for setting, share in shares.get(own[0]["model_id"], {}).items()
            ],
        }
        for number, own in sorted(members.items())
    ]


def _row(
    kind: Kind,
    policy: Contestant,
    standing: Standing,
    rating: Rating | Mapping[str, Any],
    *,
    component: int | None,
    rank: int | None,
    settings: list[str],
) -> RankingRow:
    """`rating`: as published; empty without a vote."""
    facts: Any = kind.facts(policy)
    return {
        "component": component,
        "rank": rank,
        "rank_low": rating.get("rank_low"),
        "rank_high": rating.get("rank_high"),
        "provisional": rating.get("provisional", True),
        "flags": rating.get("flags", []),
        "model_id": standing.model_id,
        "name": policy.name,
        "elo_score": standing.elo_score,
        "elo_ci": standing.elo_ci,
        "elo_low": round(standing.elo_score - standing.elo_ci, 1),
        "elo_high": round(standing.elo_score + standing.elo_ci, 1),
        "elo_weight": rating.get("weight"),
        "elo_sequential": standing.elo_sequential,
        "vote_count": standing.vote_count,
        "win_count": standing.win_count,
        "loss_count": standing.loss_count,
        "tie_count": standing.tie_count,
        "both_bad_count": standing.both_bad_count,
        "win_rate": round(standing.win_rate, 2),
        "organization": policy.organization,
        "license": policy.license,
        "family": policy.family,
        "provenance": policy.provenance,
        **facts,  # type: ignore[typeddict-item] # of the kind
        "revision": policy.revision,
        "status": policy.status,
        "robots": settings,
    }


def _fits(query: LeaderboardQuery, row: RankingRow) -> bool:
    sought = query.search.strip().casefold()
    return (
        (not query.organization or row["organization"].casefold() == query.organization.casefold())
        and (not query.family or row["family"].casefold() == query.family.casefold())
        and (sought in row["name"].casefold() or sought in row["model_id"].casefold())
    )


def _sorted(rows: Iterable[RankingRow], query: LeaderboardQuery) -> list[RankingRow]:
    """By the wanted key; equal ones by component and rating, then by name, whichever the order. A sort by rating goes
    component by component, since ratings compare only within one."""
    key, usual = SORTS[query.sort]
    steady = sorted(rows, key=lambda row: (_component(row), -row["elo_score"], row["name"].casefold(), row["model_id"]))
    found = sorted(steady, key=key, reverse=(query.order or usual) == "desc")
    return sorted(found, key=_component) if query.sort == "elo" else found


def _component(row: RankingRow) -> float:
    """Contestants without one come last."""
    return math.inf if row["component"] is None else row["component"]


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
