"""Sums over all games of each model, made again from the rows of its games (W-AG).

All sums are of whole numbers, so that they do not depend on the order in which games came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypedDict

from django.db import transaction
from django.db.models import BigIntegerField, Count, F, Q, QuerySet, Sum
from django.db.models.functions import Cast, Coalesce

from wormarena.models import PICODOLLARS, Matchup, ModelAggregate, Participant, Result

DEATHS = ("wall", "head_collision", "body_collision")
OUTCOMES = {"wins": Result.WON, "losses": Result.LOST, "ties": Result.TIED}
AT_ONCE = 200


class DecisionSums(TypedDict):
    """Over all moves of a model that files tell. `games` are those with a move; x is a game's characters of reasoning
    per move, rounded, and y its score."""

    moves: int
    provider_errors: int
    reasoning_chars: int
    output_tokens: int
    picodollars: int
    moves_near_collision: int
    output_tokens_near_collision: int
    picodollars_near_collision: int
    games: int
    x: int
    y: int
    xx: int
    yy: int
    xy: int


def recompute(names: Collection[str]) -> None:
    """Write the rows of these models from their games (W-AG-05)."""
    ordered = sorted(set(names))
    for start in range(0, len(ordered), AT_ONCE):
        _write_models(ordered[start : start + AT_ONCE])


def recompute_matchups(pairs: Iterable[tuple[str, str]]) -> None:
    """Write the rows of these pairs of models, from either side."""
    for model, opponent in sorted({way for a, b in pairs for way in ((a, b), (b, a))}):
        met = Participant.objects.filter(model_name=model, opponent_name=opponent)
        rows = [Matchup(**row) for row in _matchups(met)]
        if rows:
            Matchup.objects.bulk_create(
                rows,
                update_conflicts=True,
                unique_fields=["model_name", "opponent_name"],
                update_fields=["games", "wins", "losses", "ties", "apples"],
            )


@transaction.atomic
def rebuild() -> None:
    """Truncate and compute all (W-AG-06)."""
    ModelAggregate.objects.all().delete()
    Matchup.objects.all().delete()
    recompute(list(Participant.objects.order_by().values_list("model_name", flat=True).distinct()))
    Matchup.objects.bulk_create(Matchup(**row) for row in _matchups(Participant.objects.all()))


def _write_models(names: list[str]) -> None:
    players = Participant.objects.filter(model_name__in=names).order_by().values("model_name")
    columns = [_columns(sums) for sums in players.annotate(**_plain_sums(), **_decision_sums())]
    if columns:
        ModelAggregate.objects.bulk_create(
            [ModelAggregate(**row) for row in columns],
            update_conflicts=True,
            unique_fields=["model_name"],
            update_fields=[name for name in columns[0] if name != "model_name"],
        )


def _plain_sums() -> dict[str, Any]:
    return {
        "games_played": Count("pk"),
        **{name: Count("pk", filter=Q(result=result)) for name, result in OUTCOMES.items()},
        **{f"death_{reason}": Count("pk", filter=Q(death_reason=reason)) for reason in DEATHS},
        "died": Count("death_reason"),
        "apples": Sum("final_score"),
        "all_picodollars": Sum("cost_picodollars"),
        "all_input_tokens": Coalesce(Sum("total_input_tokens"), 0),
        "all_output_tokens": Coalesce(Sum("total_output_tokens"), 0),
    }


def _decision_sums() -> dict[str, Any]:
    moved = Q(moves__gt=0)
    x, y = Cast("reasoning_per_move", BigIntegerField()), Cast("final_score", BigIntegerField())
    of_moves = {
        "moves": "moves",
        "provider_errors": "provider_errors",
        "reasoning_chars": "reasoning_chars",
        "output_tokens": "move_output_tokens",
        "picodollars": "move_picodollars",
        "moves_near_collision": "moves_near_collision",
        "output_tokens_near_collision": "output_tokens_near_collision",
        "picodollars_near_collision": "picodollars_near_collision",
    }
    products = {"x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
    return {
        **{f"d_{name}": Sum(column) for name, column in of_moves.items()},
        "d_games": Count("pk", filter=moved),
        **{f"d_{name}": Coalesce(Sum(value, filter=moved), 0) for name, value in products.items()},
    }


def _columns(sums: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a model's row (W-AG-02 to -04)."""
    games, apples, cost = sums["games_played"], sums["apples"], sums["all_picodollars"] / PICODOLLARS
    deaths = {f"death_{reason}": sums[f"death_{reason}"] for reason in DEATHS}
    return {
        "model_name": sums["model_name"],
        "games_played": games,
        **{name: sums[name] for name in OUTCOMES},
        "apples_eaten_total": apples,
        "total_cost": cost,
        "total_input_tokens": sums["all_input_tokens"],
        "total_output_tokens": sums["all_output_tokens"],
        **deaths,
        "death_other": sums["died"] - sum(deaths.values()),
        "win_rate": sums["wins"] / games,
        "avg_score": apples / games,
        "avg_cost_per_game": cost / games,
        "avg_cost_per_point": cost / max(1, apples),
        "decision_sums": {name: int(sums[f"d_{name}"]) for name in DecisionSums.__annotations__},
    }


def _matchups(players: QuerySet[Participant]) -> QuerySet[Participant, Any]:
    return (
        players.order_by()
        .values("model_name", "opponent_name")
        .annotate(
            games=Count("pk"),
            **{name: Count("pk", filter=Q(result=result)) for name, result in OUTCOMES.items()},
            apples=Sum(F("final_score")),
        )
    )
