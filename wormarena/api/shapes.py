"""The JSON of WormArena's calls, declared once."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

GameResult = Literal["won", "lost", "tied"]


class WormRatings(TypedDict):
    """`mu`, `sigma`, `exposed` and `display` are TrueSkill's as SnakeBench shows it. `strength` is Bradley-Terry with
    ties in Elo points, with its 95 % interval; only models with the same `component` can be compared by it. Null before
    the first game, or against others."""

    mu: float | None
    sigma: float | None
    exposed: float | None
    display: float | None
    strength: float | None
    strengthLow: float | None
    strengthHigh: float | None
    component: int | None


class WormModel(TypedDict):
    """All games of one model. `winRate` is between 0 and 1, costs are US dollars."""

    modelName: str
    gamesPlayed: int
    wins: int
    losses: int
    ties: int
    winRate: float
    avgScore: float
    avgCostPerGame: float
    avgCostPerPoint: float
    totalCost: float
    totalInputTokens: int
    totalOutputTokens: int
    deathWall: int
    deathHeadCollision: int
    deathBodyCollision: int
    deathOther: int
    ratings: WormRatings


class WormParticipant(TypedDict):
    """`deathRound` counts from 0. What the file lacks is null."""

    playerSlot: int
    modelName: str
    result: GameResult
    finalScore: int
    deathRound: int | None
    deathReason: str | None
    totalCost: float | None
    totalInputTokens: int | None
    totalOutputTokens: int | None


class WormGameRow(TypedDict):
    gameId: str
    startedAt: str | None
    endedAt: str | None
    gameType: str | None
    boardWidth: int
    boardHeight: int
    numApples: int | None
    maxRounds: int | None
    roundsPlayed: int | None
    modelAName: str
    modelBName: str
    totalScore: int
    totalCost: float | None
    totalInputTokens: int | None
    totalOutputTokens: int | None


class WormListedGame(WormGameRow):
    participants: list[WormParticipant]


class WormGames(TypedDict):
    """`next` is the `after` of the next page, null on the last."""

    games: list[WormListedGame]
    next: str | None


class WormGame(TypedDict):
    """`replay` is the file as it was handed in."""

    replay: dict[str, Any]
    gameRow: WormGameRow
    participants: list[WormParticipant]


class WormMatchup(TypedDict):
    """Seen from `modelName`. `games` against itself count twice, once per slot."""

    modelName: str
    opponentName: str
    games: int
    wins: int
    losses: int
    ties: int
    apples: int


class WormDecisions(TypedDict):
    """How a model decides. `lengthScoreCorrelation` is Pearson's, over its `games`, of the mean length of a move's
    reasons with the score; null below three games or without variation. A move is near a collision if at most one cell
    beside the head is free, or if it killed. Shares are between 0 and 1, costs US dollars per move."""

    modelName: str
    games: int
    moves: int
    reasoningCharsPerMove: float | None
    outputTokensPerMove: float | None
    outputTokensPerMoveNearCollision: float | None
    costPerMove: float | None
    costPerMoveNearCollision: float | None
    nearCollisionShare: float | None
    providerErrorShare: float | None
    lengthScoreCorrelation: float | None


class WormTaken(TypedDict):
    """`new` is false for a file that was known already."""

    gameId: str
    new: bool
