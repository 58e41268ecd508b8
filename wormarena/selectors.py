"""Reads for the API and the pages: few queries, none of which grows with the number of all games."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

from django.db.models import QuerySet

from arena.errors import UnknownName
from wormarena.api.shapes import (
    GameResult,
    WormDecisions,
    WormGameRow,
    WormListedGame,
    WormMatchup,
    WormModel,
    WormParticipant,
)
from wormarena.models import PICODOLLARS, Game, Matchup, ModelAggregate, Participant, Result

PAGE, MOST = 20, 100
FEW_GAMES = 3
SORTS: Mapping[str, tuple[str, ...]] = {
    "strength": ("-strength",),
    "trueskill": ("-rating_exposed",),
    "winRate": ("-win_rate",),
    "score": ("-avg_score",),
    "games": ("-games_played",),
    "costPerPoint": ("avg_cost_per_point",),
    "name": (),
}


@dataclass(frozen=True)
class GamesQuery:
    """Which games. Empty: all. `result` is that of `model`. `after`: the cursor of the page before."""

    model: str = ""
    opponent: str = ""
    result: str = ""
    gameType: str = ""
    after: str = ""
    limit: int = PAGE

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> GamesQuery:
        """Raises UnknownName for a result, a limit or a cursor that is none."""
        given = {name: parameters.get(name, "").replace("\0", "")[:300] for name in NAMES}
        limit = parameters.get("limit", "") or str(PAGE)
        if not limit.isdecimal() or not 1 <= int(limit[:9]) <= MOST:
            raise UnknownName("limit", [f"a whole number from 1 to {MOST}"])
        query = cls(**given, limit=int(limit))
        if query.result and query.result not in Result.values:
            raise UnknownName("result", Result.values)
        if query.after:
            _cursor(query.after)
        if (query.opponent or query.result) and not query.model:
            raise UnknownName("model", ["opponent and result are those of a model: name it"])
        return query

    def address(self, **changes: str) -> str:
        wanted = vars(replace(self, after="")) | changes
        return urlencode({name: wanted[name] for name in NAMES if wanted[name]})


NAMES = ("model", "opponent", "result", "gameType", "after")


def games(query: GamesQuery) -> tuple[list[Game], str]:
    """The newest first, with their participants, and the cursor of the next page."""
    found = _of_model(query) if query.model else _of_all(query)
    ids, page = found[: query.limit], found[query.limit :]
    by_id = Game.objects.prefetch_related("participants").in_bulk([game_id for game_id, _ in ids])
    shown = [by_id[game_id] for game_id, _ in ids if game_id in by_id]
    following = f"{ids[-1][1].isoformat()}~{ids[-1][0]}" if page else ""
    return shown, following


def _of_all(query: GamesQuery) -> list[tuple[str, datetime]]:
    rows = Game.objects.order_by("-played_at", "-game_id")
    if query.gameType:
        rows = rows.filter(game_type=query.gameType)
    if query.after:
        played_at, game_id = _cursor(query.after)
        rows = rows.filter(played_at__lte=played_at).exclude(played_at=played_at, game_id__gte=game_id)
    return list(rows.values_list("game_id", "played_at")[: query.limit + 1])


def _of_model(query: GamesQuery) -> list[tuple[str, datetime]]:
    """A game of a model against itself is listed once, by its first slot that fits."""
    rows = Participant.objects.filter(model_name=query.model).order_by("-played_at", "-game_id")
    if query.opponent:
        rows = rows.filter(opponent_name=query.opponent)
    if query.result:
        rows = rows.filter(result=query.result)
    if query.gameType:
        rows = rows.filter(game__game_type=query.gameType)
    if query.after:
        played_at, game_id = _cursor(query.after)
        rows = rows.filter(played_at__lte=played_at).exclude(played_at=played_at, game_id__gte=game_id)
    found = dict(rows.values_list("game_id", "played_at")[: 2 * query.limit + 2])
    return list(found.items())[: query.limit + 1]


def _cursor(text: str) -> tuple[datetime, str]:
    moment, mark, game_id = text.partition("~")
    played_at: datetime | None
    try:
        played_at = datetime.fromisoformat(moment)
    except ValueError:
        played_at = None
    if not mark or played_at is None or played_at.tzinfo is None:
        raise UnknownName("after", ["the `next` of a page"])
    return played_at, game_id


def models(sort: str = "strength", search: str = "") -> QuerySet[ModelAggregate]:
    if sort not in SORTS:
        raise UnknownName("sort", SORTS)
    rows = ModelAggregate.objects.order_by(*SORTS[sort], "model_name")
    return rows.filter(model_name__icontains=search) if search else rows


def matchups(model: str = "") -> QuerySet[Matchup]:
    rows = Matchup.objects.order_by("model_name", "opponent_name")
    return rows.filter(model_name=model) if model else rows


def find(game_id: str) -> Game | None:
    return Game.objects.filter(pk=game_id).prefetch_related("participants").first()


def replay_of(game: Game) -> dict[str, Any] | None:
    """The file; None where it is gone or has changed into something else."""
    try:
        document = json.loads(Path(game.replay_path).read_bytes())
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None


def model_json(row: ModelAggregate) -> WormModel:
    return {
        "modelName": row.model_name,
        "gamesPlayed": row.games_played,
        "wins": row.wins,
        "losses": row.losses,
        "ties": row.ties,
        "winRate": row.win_rate,
        "avgScore": row.avg_score,
        "avgCostPerGame": row.avg_cost_per_game,
        "avgCostPerPoint": row.avg_cost_per_point,
        "totalCost": row.total_cost,
        "totalInputTokens": row.total_input_tokens,
        "totalOutputTokens": row.total_output_tokens,
        "deathWall": row.death_wall,
        "deathHeadCollision": row.death_head_collision,
        "deathBodyCollision": row.death_body_collision,
        "deathOther": row.death_other,
        "ratings": {
            "mu": row.rating_mu,
            "sigma": row.rating_sigma,
            "exposed": row.rating_exposed,
            "display": row.rating_display,
            "strength": row.strength,
            "strengthLow": row.strength_low,
            "strengthHigh": row.strength_high,
            "component": row.component,
        },
    }


def game_json(game: Game) -> WormGameRow:
    return {
        "gameId": game.game_id,
        "startedAt": _time(game.started_at),
        "endedAt": _time(game.ended_at),
        "gameType": game.game_type,
        "boardWidth": game.board_width,
        "boardHeight": game.board_height,
        "numApples": game.num_apples,
        "maxRounds": game.max_rounds,
        "roundsPlayed": game.rounds_played,
        "modelAName": game.model_a_name,
        "modelBName": game.model_b_name,
        "totalScore": game.total_score,
        "totalCost": game.total_cost,
        "totalInputTokens": game.total_input_tokens,
        "totalOutputTokens": game.total_output_tokens,
    }


def participants_json(game: Game) -> list[WormParticipant]:
    return [_participant_json(each) for each in sides_of(game)]


def sides_of(game: Game) -> list[Participant]:
    """In the order of their slots."""
    return sorted(game.participants.all(), key=lambda each: each.player_slot)


def listed_json(game: Game) -> WormListedGame:
    return {**game_json(game), "participants": participants_json(game)}


def matchup_json(row: Matchup) -> WormMatchup:
    return {
        "modelName": row.model_name,
        "opponentName": row.opponent_name,
        "games": row.games,
        "wins": row.wins,
        "losses": row.losses,
        "ties": row.ties,
        "apples": row.apples,
    }


def decisions_json(row: ModelAggregate) -> WormDecisions:
    sums, moves = row.decision_sums, row.decision_sums.get("moves", 0)
    close = sums.get("moves_near_collision", 0)
    return {
        "modelName": row.model_name,
        "games": sums.get("games", 0),
        "moves": moves,
        "reasoningCharsPerMove": _per(sums.get("reasoning_chars"), moves),
        "outputTokensPerMove": _per(sums.get("output_tokens"), moves),
        "outputTokensPerMoveNearCollision": _per(sums.get("output_tokens_near_collision"), close),
        "costPerMove": _per(sums.get("picodollars"), moves * PICODOLLARS),
        "costPerMoveNearCollision": _per(sums.get("picodollars_near_collision"), close * PICODOLLARS),
        "nearCollisionShare": _per(close, moves),
        "providerErrorShare": _per(sums.get("provider_errors"), moves),
        "lengthScoreCorrelation": correlation(sums),
    }


def correlation(sums: Mapping[str, int]) -> float | None:
    """Pearson's, from sums of whole numbers."""
    n = sums.get("games", 0)
    if n < FEW_GAMES:
        return None
    together = n * sums["xy"] - sums["x"] * sums["y"]
    apart = (n * sums["xx"] - sums["x"] ** 2) * (n * sums["yy"] - sums["y"] ** 2)
    return max(-1.0, min(1.0, together / apart**0.5)) if apart > 0 else None


def _participant_json(each: Participant) -> WormParticipant:
    return {
        "playerSlot": each.player_slot,
        "modelName": each.model_name,
        "result": cast(GameResult, each.result),
        "finalScore": each.final_score,
        "deathRound": each.death_round,
        "deathReason": each.death_reason,
        "totalCost": each.total_cost,
        "totalInputTokens": each.total_input_tokens,
        "totalOutputTokens": each.total_output_tokens,
    }


def _per(part: int | None, whole: int) -> float | None:
    return (part or 0) / whole if whole else None


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
