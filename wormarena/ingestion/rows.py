"""A game as rows: what its file says, with copies and sums for the pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from wormarena.danger import near_collisions
from wormarena.game_file import GameFacts, Move, PlayerFacts
from wormarena.models import PICODOLLARS, Decision, Game, Participant

NO_TIME = datetime(1, 1, 1, tzinfo=UTC)
"""Games without a time come before all others."""
LONGEST_REASONS = 100_000
"""Characters per move, as far as the correlation with the score counts them: squares must fit into sums."""


class Rows(NamedTuple):
    game: Game
    participants: list[Participant]
    decisions: list[Decision]

    @property
    def models(self) -> tuple[str, str]:
        return self.game.model_a_name, self.game.model_b_name


def rows_of(facts: GameFacts, path: str) -> Rows:
    game, near = _game(facts, path), near_collisions(facts)
    participants = [_participant(game, player, facts, near) for player in facts.players]
    return Rows(game, participants, [_decision(game, move, near) for move in facts.moves])


def picodollars(cost: float | None) -> int:
    return round((cost or 0.0) * PICODOLLARS)


def _game(facts: GameFacts, path: str) -> Game:
    played_at = facts.started_at or facts.ended_at or NO_TIME
    return Game(
        game_id=facts.game_id,
        started_at=facts.started_at,
        ended_at=facts.ended_at,
        game_type=facts.game_type,
        board_width=facts.width,
        board_height=facts.height,
        num_apples=facts.num_apples,
        max_rounds=facts.max_rounds,
        rounds_played=facts.rounds_played,
        model_a_name=facts.players[0].name,
        model_b_name=facts.players[1].name,
        total_score=sum(player.score for player in facts.players),
        total_cost=facts.spent.cost,
        total_input_tokens=facts.spent.input_tokens,
        total_output_tokens=facts.spent.output_tokens,
        replay_path=path,
        content_hash=facts.content_hash,
        played_at=played_at,
        finished_at=facts.ended_at or played_at,
    )


def _participant(game: Game, player: PlayerFacts, facts: GameFacts, near: set[tuple[int, int]]) -> Participant:
    moves = [move for move in facts.moves if move.slot == player.slot]
    close = [move for move in moves if (move.round, move.slot) in near]
    chars = sum(len(move.rationale) for move in moves)
    per_move = min(LONGEST_REASONS, round(chars / len(moves))) if moves else 0
    return Participant(
        game=game,
        player_slot=player.slot,
        model_name=player.name,
        result=player.result,
        final_score=player.score,
        death_round=player.death_round,
        death_reason=player.death_reason,
        total_cost=player.spent.cost,
        total_input_tokens=player.spent.input_tokens,
        total_output_tokens=player.spent.output_tokens,
        opponent_name=facts.players[1 - player.slot].name,
        played_at=game.played_at,
        day=game.played_at.date(),
        rounds_played=game.rounds_played,
        cost_picodollars=picodollars(player.spent.cost),
        moves=len(moves),
        provider_errors=sum(move.is_provider_error for move in moves),
        reasoning_chars=chars,
        reasoning_per_move=per_move,
        moves_near_collision=len(close),
        move_output_tokens=_output_of(moves),
        output_tokens_near_collision=_output_of(close),
        move_picodollars=_cost_of(moves),
        picodollars_near_collision=_cost_of(close),
    )


def _cost_of(moves: Sequence[Move]) -> int:
    return sum(picodollars(move.spent.cost) for move in moves)


def _output_of(moves: Sequence[Move]) -> int:
    return sum(move.spent.output_tokens or 0 for move in moves)


def _decision(game: Game, move: Move, near: set[tuple[int, int]]) -> Decision:
    return Decision(
        game=game,
        player_slot=move.slot,
        round=move.round,
        move=move.move,
        rationale=move.rationale,
        input_tokens=move.spent.input_tokens,
        output_tokens=move.spent.output_tokens,
        cost=move.spent.cost,
        reasoning_length_chars=len(move.rationale),
        is_provider_error_fallback=move.is_provider_error,
        is_near_collision=(move.round, move.slot) in near,
    )
