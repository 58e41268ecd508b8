"""Reads shaped for the leaderboard: the API and the page show the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, NamedTuple

from django.db.models import Count

from arena import kinds
from arena.errors import UnknownName
from arena.kinds import Kind
from arena.models import Battle, BattleStatus, Contestant, ContestantStatus, ProcessingStatus, Vote, VoteChoice
from rankings.api.pair_queries import names_in
from rankings.api.shapes import Component, Leaderboard, LeaderboardStatistics, RankingRow, RobotShare, WorkerState
from rankings.fit.ratings import Rating
from rankings.fit.standings import MINIMUM_VOTES, Standing, unvoted
from rankings.publication import published
from rankings.publication.aggregation import worker_status
from rankings.publication.published import Current, Published
from rankings.publication.report import NO_FIGURES
from rankings.tally.table import GLOBAL, Board
from rankings.votes.locking import WORKER

Order = Literal["asc", "desc"]
SORTS: dict[str, tuple[Callable[[RankingRow, Standing], Any], Order]] = {
    "elo": (lambda row, standing: standing.elo_score, "desc"),
    "votes": (lambda row, standing: standing.vote_count, "desc"),
    "win_rate": (lambda row, standing: standing.win_rate, "desc"),
    "name": (lambda row, standing: row["name"].casefold(), "asc"),
}
"""Sort name -> (key, order unless asked otherwise)."""


@dataclass(frozen=True)
class LeaderboardQuery:
    """What to show. Empty text means no filter, of `kind` the default one; names are checked by `leaderboard`.

    `robot_id` and `scene_id` are a setting and a scene of the kind, and so called in an address as the kind calls them.
    """

    kind: str = ""
    robot_id: str = ""
    scene_id: str = ""
    organization: str = ""
    family: str = ""
    search: str = ""
    sort: str = "elo"
    order: str = ""

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> LeaderboardQuery:
        """From the parameters of an address; what is no filter is ignored."""
        names = names_in(parameters)
        called = {"robot_id": names.setting, "scene_id": names.scene}
        given = {field.name: parameters.get(called.get(field.name, field.name), "") for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value})

    def check(self, kind: Kind) -> None:
        """Raise UnknownName for a setting, scene, sort or order that does not exist."""
        places = kind.places()
        if self.robot_id and self.robot_id not in places:
            raise UnknownName(kind.words.setting, places)
        here = {scene for setting, scenes in places.items() for scene in scenes if self.robot_id in ("", setting)}
        if self.scene_id and self.scene_id not in here:
            raise UnknownName(kind.words.scene, here)
        if self.sort not in SORTS:
            raise UnknownName("sort", SORTS)
        if self.order and self.order not in ("asc", "desc"):
            raise UnknownName("order", ("asc", "desc"))

    @property
    def board(self) -> str:
        return "/".join(name for name in (self.robot_id, self.scene_id) if name) or GLOBAL


def leaderboard(query: LeaderboardQuery, current: Current | None = None) -> Leaderboard:
    """One board, ranked as a whole, then filtered and sorted: a filter never changes a rank.

    `current`: what was read already of the kind. Raises UnknownName.
    """
    kind = kinds.named(query.kind)
    query.check(kind)
    _, listed, now = current or published.current(kind)
    policies = {policy.pk: policy for policy in listed}
    name = Board(setting=query.robot_id, scene=query.scene_id).name
    board = [standing for standing in now.standings.get(name, []) if standing.model_id in policies]
    board += [unvoted(each) for each in _without_votes(board, listed)]
    places = _places(board, now, name, policies)
    entries = [(_row(kind, each, policies[each.model_id], places.get(each.model_id, UNPLACED)), each) for each in board]
    known = kind.places()
    shown = _sorted([entry for entry in entries if _fits(query, entry[0])], query)
    return {
        "rankings": [row for row, standing in shown if not standing.provisional],
        "provisional": [row for row, standing in shown if standing.provisional],
        "metadata": {
            "kind": kind.id,
            "board": query.board,
            "total_models": len(board),
            "total_votes": sum(standing.vote_count for standing in board) // 2,
            "last_updated": _iso(now.at),
            "minimum_votes": MINIMUM_VOTES,
            "components": _components(board, places, now.board(name)),
            "robots": sorted(known),
            "scenes": sorted({scene for scenes in known.values() for scene in scenes}),
            "organizations": sorted({row["organization"] for row, _ in entries} - {""}),
            "families": sorted({row["family"] for row, _ in entries}),
        },
    }


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
    """With a `kind`, only its votes are waiting."""
    status = worker_status()
    unprocessed = (ProcessingStatus.PENDING, ProcessingStatus.FAILED)  # by name: an index finds these, not "all but"
    votes = Vote.objects.filter(processing_status__in=unprocessed, **({"kind": kind.id} if kind else {}))
    waiting = _counted(votes, "processing_status")
    return {
        "worker_name": WORKER,
        "status": status.status if status else "never run",
        "last_run_at": _iso(status.last_run_at if status else None),
        "votes_processed": status.votes_processed if status else 0,
        "pending_votes": waiting.get(ProcessingStatus.PENDING, 0),
        "failed_votes": waiting.get(ProcessingStatus.FAILED, 0),
        "error_message": status.error_message if status and with_errors else None,
    }


def _without_votes(board: Iterable[Standing], policies: Iterable[Contestant]) -> list[str]:
    voted = {standing.model_id for standing in board}
    return sorted(each.pk for each in policies if each.pk not in voted and each.status == ContestantStatus.ACTIVE)


class Position(NamedTuple):
    """Where a policy stands: in which component, on which rank of it, how much it counts in the component's mean, and
    on which robots it was voted on."""

    component: int | None
    rank: int | None
    weight: float | None
    robots: list[str]


UNPLACED = Position(None, None, None, [])


def _places(board: Iterable[Standing], now: Published, name: str, listed: Collection[str]) -> dict[str, Position]:
    """Of each policy that votes connect with others."""
    components = now.components(name, listed)
    ranks = ranks_within([each for each in board if each.model_id in components], components, now.rows(name))
    robots, rows = _robots(now.board(name)), now.rows(name)
    return {
        model_id: Position(component, ranks.get(model_id), rows[model_id].get("weight"), robots.get(model_id, []))
        for model_id, component in components.items()
    }


def ranks_within(board: Iterable[Standing], component: Mapping[str, int], rows: Mapping[str, Rating]) -> dict[str, int]:
    """1 for the highest score of a component; equal scores share a rank, and the ranks after them are skipped, but for
    where votes settle the order of two that differ by less than a point."""
    scores = {each.model_id: each.elo_score for each in board if not each.provisional}
    found = {}
    for name, score in scores.items():
        ahead = sum(other > score and component[rival] == component[name] for rival, other in scores.items())
        low, high = rows[name]["rank_low"], rows[name]["rank_high"]
        found[name] = min(max(1 + ahead, low or 1), high or 1 + ahead)
    return found


def _robots(board: Mapping[str, Any]) -> dict[str, list[str]]:
    """Policy -> the robots on which it was voted on."""
    over = zip(board.get("components", []), board.get("robots", []), strict=False)
    everywhere = {member: sorted(shares) for members, shares in over for member in members}
    some: Mapping[str, list[str]] = board.get("played_on", {})
    return {**everywhere, **some}


def _components(board: Iterable[Standing], places: Mapping[str, Position], kept: Mapping[str, Any]) -> list[Component]:
    """`kept`: the board as the snapshot has it."""
    shares: dict[str, list[RobotShare]] = {
        member: [{"robot_id": robot, "share": share} for robot, share in robots.items()]
        for members, robots in zip(kept.get("components", []), kept.get("robots", []), strict=False)
        for member in members
    }
    found: dict[int, Component] = {}
    for each in board:
        number = places.get(each.model_id, UNPLACED).component
        if number is not None:
            empty: Component = {"component": number, "models": 0, "votes": 0, "robots": shares.get(each.model_id, [])}
            own = found.setdefault(number, empty)
            own["models"] += 1
            own["votes"] += each.vote_count
    return [{**found[number], "votes": found[number]["votes"] // 2} for number in sorted(found)]


def _row(kind: Kind, standing: Standing, policy: Contestant, place: Position) -> RankingRow:
    facts: Any = kind.facts(policy)
    return {
        "component": place.component,
        "rank": place.rank,
        "model_id": standing.model_id,
        "name": policy.name,
        "elo_score": standing.elo_score,
        "elo_ci": standing.elo_ci,
        "elo_low": round(standing.elo_score - standing.elo_ci, 1),
        "elo_high": round(standing.elo_score + standing.elo_ci, 1),
        "elo_weight": place.weight,
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
        "robots": place.robots,
    }


def _fits(query: LeaderboardQuery, row: RankingRow) -> bool:
    sought = query.search.strip().casefold()
    return (
        (not query.organization or row["organization"].casefold() == query.organization.casefold())
        and (not query.family or row["family"].casefold() == query.family.casefold())
        and (sought in row["name"].casefold() or sought in row["model_id"].casefold())
    )


def _sorted(entries: list[tuple[RankingRow, Standing]], query: LeaderboardQuery) -> list[tuple[RankingRow, Standing]]:
    """By the wanted key; equals by component and rating, then by name, whichever the order. A sort by rating is within
    components, one after the other: between them ratings do not compare."""
    key, usual = SORTS[query.sort]
    steady = sorted(entries, key=lambda entry: (-entry[1].elo_score, entry[0]["name"].casefold(), entry[1].model_id))
    if query.sort != "elo":
        steady = sorted(steady, key=_component)
    found = sorted(steady, key=lambda entry: key(*entry), reverse=(query.order or usual) == "desc")
    return sorted(found, key=_component) if query.sort == "elo" else found


def _component(entry: tuple[RankingRow, Standing]) -> float:
    """Those without one come last."""
    component = entry[0]["component"]
    return math.inf if component is None else component


def _counted(votes: Any, column: str) -> dict[str, int]:
    return dict(votes.order_by().values_list(column).annotate(count=Count("pk")))


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
