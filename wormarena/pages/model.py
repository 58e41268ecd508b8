"""The page of one model."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse

from wormarena import selectors
from wormarena.models import PICODOLLARS, ModelAggregate, Participant
from wormarena.pages.base import RESULTS, address_of, dollars, percent, played, worm_page
from wormarena.pages.board import deaths_of
from wormarena.pages.charts import by_day, shares

LISTED = 5


def model(request: HttpRequest) -> HttpResponse:
    row = ModelAggregate.objects.filter(pk=request.GET.get("name", "").replace("\0", "")).first()
    if row is None:
        raise Http404
    own = Participant.objects.filter(model_name=row.model_name)
    return worm_page(
        request,
        "model",
        row=row,
        win_rate=percent(row.win_rate),
        costs={
            "total": dollars(row.total_cost),
            "game": dollars(row.avg_cost_per_game),
            "point": dollars(row.avg_cost_per_point),
        },
        outcomes=_outcomes(row),
        deaths=deaths_of(row),
        survived=row.games_played - sum(each["number"] for each in deaths_of(row)),
        opponents=_opponents(row.model_name),
        decisions=_decisions(row),
        costs_by_day=_costs_by_day(row.model_name),
        longest=_games(own.filter(rounds_played__isnull=False).order_by("-rounds_played")),
        costliest=_games(own.filter(cost_picodollars__gt=0).order_by("-cost_picodollars")),
        recent=_games(own.order_by("-played_at", "-game")),
    )


def _outcomes(row: ModelAggregate) -> list[dict[str, Any]]:
    return shares([("won", RESULTS["won"], row.wins), ("tied", RESULTS["tied"], row.ties),
                   ("lost", RESULTS["lost"], row.losses)])  # fmt: skip


def _opponents(name: str) -> list[dict[str, Any]]:
    rows = selectors.matchups(name).order_by("-games", "opponent_name")
    return [{"row": row, "address": address_of(row.opponent_name), "share": percent(row.wins / row.games)}
            for row in rows]  # fmt: skip


def _decisions(row: ModelAggregate) -> dict[str, Any]:
    found = selectors.decisions_json(row)
    shown = {name: dollars(found[name]) for name in ("costPerMove", "costPerMoveNearCollision")}
    for name in ("nearCollisionShare", "providerErrorShare"):
        value = found[name]
        shown[name] = "–" if value is None else f"{100 * value:.1f} %"
    return {**found, **shown}


def _costs_by_day(name: str) -> dict[str, Any] | None:
    rows = (
        Participant.objects.filter(model_name=name, day__year__gt=1)
        .order_by("day")
        .values("day")
        .annotate(games=Count("pk"), cost=Sum("cost_picodollars"), apples=Sum("final_score"))
    )
    days = [(row["day"], row["cost"] / row["games"] / PICODOLLARS) for row in rows]
    chart = by_day([(day, cost, dollars(cost)) for day, cost in days])
    return chart and {**chart, "most": dollars(chart["most"])}


def _games(players: Any) -> list[dict[str, Any]]:
    return [
        {
            "player": player,
            "result": RESULTS[player.result],
            "cost": dollars(player.total_cost),
            "played_at": played(player.played_at),
        }
        for player in players[:LISTED]
    ]
