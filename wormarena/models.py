"""Games of Snake between language models, read from files (`wormarena.ingestion`).

Everything here can be made again from the files alone. Nothing here is a vote, and no vote's ranking reads it. Names
are kept exactly as the files spell them.
"""

from __future__ import annotations

from typing import Any

from django.db import models

PICODOLLARS = 10**12
"""Of a US dollar. Sums of whole numbers do not depend on their order."""


class Result(models.TextChoices):
    WON = "won"
    LOST = "lost"
    TIED = "tied"


class Game(models.Model):
    """One file. `replay_path` is where it lies. `played_at` and `game_id` order all games; a game without a time comes
    first."""

    game_id = models.CharField(max_length=100, primary_key=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    game_type = models.CharField(max_length=100, null=True)
    board_width = models.PositiveIntegerField()
    board_height = models.PositiveIntegerField()
    num_apples = models.PositiveBigIntegerField(null=True)
    max_rounds = models.PositiveBigIntegerField(null=True)
    rounds_played = models.PositiveBigIntegerField(null=True)
    model_a_name = models.CharField(max_length=200)
    model_b_name = models.CharField(max_length=200)
    total_score = models.PositiveBigIntegerField()
    total_cost = models.FloatField(null=True, help_text="US dollars")
    total_input_tokens = models.PositiveBigIntegerField(null=True)
    total_output_tokens = models.PositiveBigIntegerField(null=True)
    replay_path = models.TextField()
    content_hash = models.CharField(max_length=64)
    played_at = models.DateTimeField(help_text="started_at, else ended_at, else the year 1")
    finished_at = models.DateTimeField(help_text="ended_at, else played_at")
    ingested_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "worm_games"
        indexes = [
            models.Index(fields=["-played_at", "-game_id"], name="worm_games_newest"),
            models.Index(fields=["played_at", "finished_at", "game_id"], name="worm_games_in_order"),
        ]
        permissions = [("ingest_games", "Can hand in files of games")]

    def __str__(self) -> str:
        return f"{self.game_id}: {self.model_a_name} – {self.model_b_name}"


class Participant(models.Model):
    """One slot of a game. After the columns of the file come copies of the game's, and sums over the slot's moves."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="participants", db_index=False)
    player_slot = models.PositiveSmallIntegerField()
    model_name = models.CharField(max_length=200)
    result = models.CharField(max_length=4, choices=Result.choices)
    final_score = models.PositiveBigIntegerField()
    death_round = models.PositiveBigIntegerField(null=True)
    death_reason = models.CharField(max_length=100, null=True)
    total_cost = models.FloatField(null=True, help_text="US dollars")
    total_input_tokens = models.PositiveBigIntegerField(null=True)
    total_output_tokens = models.PositiveBigIntegerField(null=True)

    opponent_name = models.CharField(max_length=200)
    played_at = models.DateTimeField()
    day = models.DateField()
    rounds_played = models.PositiveBigIntegerField(null=True)
    cost_picodollars = models.BigIntegerField(default=0)
    moves = models.PositiveIntegerField(default=0)
    provider_errors = models.PositiveIntegerField(default=0)
    reasoning_chars = models.PositiveBigIntegerField(default=0)
    reasoning_per_move = models.PositiveBigIntegerField(default=0, help_text="characters, rounded")
    moves_near_collision = models.PositiveIntegerField(default=0)
    move_output_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens_near_collision = models.PositiveBigIntegerField(default=0)
    move_picodollars = models.BigIntegerField(default=0)
    picodollars_near_collision = models.BigIntegerField(default=0)

    class Meta:
        db_table = "worm_participants"
        constraints = [models.UniqueConstraint(fields=["game", "player_slot"], name="worm_one_player_per_slot")]
        indexes = [
            models.Index(fields=["model_name", "-played_at", "-game"], name="worm_players_newest"),
            models.Index(fields=["model_name", "opponent_name", "-played_at", "-game"], name="worm_players_pair"),
            models.Index(fields=["model_name", "-rounds_played"], name="worm_players_longest"),
            models.Index(fields=["model_name", "-cost_picodollars"], name="worm_players_costliest"),
            models.Index(fields=["model_name", "day", "cost_picodollars", "final_score"], name="worm_players_by_day"),
        ]

    def __str__(self) -> str:
        return f"{self.model_name} in slot {self.player_slot} of {self.game_id}"


class Decision(models.Model):
    """One move of one slot, with the reasons that the model gave."""

    game = models.ForeignKey(Game, on_delete=models.CASCADE, related_name="decisions", db_index=False)
    player_slot = models.PositiveSmallIntegerField()
    round = models.PositiveBigIntegerField()
    move = models.CharField(max_length=5)
    rationale = models.TextField()
    input_tokens = models.PositiveBigIntegerField(null=True)
    output_tokens = models.PositiveBigIntegerField(null=True)
    cost = models.FloatField(null=True, help_text="US dollars")
    reasoning_length_chars = models.PositiveIntegerField()
    is_provider_error_fallback = models.BooleanField()
    is_near_collision = models.BooleanField()

    class Meta:
        db_table = "worm_decisions"
        constraints = [
            models.UniqueConstraint(fields=["game", "round", "player_slot"], name="worm_one_move_per_slot_and_round")
        ]

    def __str__(self) -> str:
        return f"{self.move} of slot {self.player_slot} in round {self.round} of {self.game_id}"


class ModelAggregate(models.Model):
    """All games of one model (`wormarena.aggregates`), and its ratings (`wormarena.ratings`)."""

    model_name = models.CharField(max_length=200, primary_key=True)
    games_played = models.PositiveBigIntegerField(default=0)
    wins = models.PositiveBigIntegerField(default=0)
    losses = models.PositiveBigIntegerField(default=0)
    ties = models.PositiveBigIntegerField(default=0)
    apples_eaten_total = models.PositiveBigIntegerField(default=0)
    total_cost = models.FloatField(default=0.0)
    total_input_tokens = models.PositiveBigIntegerField(default=0)
    total_output_tokens = models.PositiveBigIntegerField(default=0)
    death_wall = models.PositiveBigIntegerField(default=0)
    death_head_collision = models.PositiveBigIntegerField(default=0)
    death_body_collision = models.PositiveBigIntegerField(default=0)
    death_other = models.PositiveBigIntegerField(default=0)
    win_rate = models.FloatField(default=0.0)
    avg_score = models.FloatField(default=0.0)
    avg_cost_per_game = models.FloatField(default=0.0)
    avg_cost_per_point = models.FloatField(default=0.0)

    decision_sums = models.JSONField(default=dict, help_text="Over its moves: wormarena.aggregates.DecisionSums")

    rating_mu = models.FloatField(null=True)
    rating_sigma = models.FloatField(null=True)
    rating_exposed = models.FloatField(null=True)
    rating_display = models.FloatField(null=True)
    strength = models.FloatField(null=True, help_text="Bradley-Terry with ties, Elo points")
    strength_low = models.FloatField(null=True)
    strength_high = models.FloatField(null=True)
    component = models.PositiveIntegerField(null=True, help_text="Models with the same number can be compared")

    class Meta:
        db_table = "worm_models"

    def __str__(self) -> str:
        return self.model_name


class Matchup(models.Model):
    """All games of one model against another, seen from the first. A model that met itself has a row too, in which
    each game counts twice."""

    model_name = models.CharField(max_length=200)
    opponent_name = models.CharField(max_length=200)
    games = models.PositiveBigIntegerField()
    wins = models.PositiveBigIntegerField()
    losses = models.PositiveBigIntegerField()
    ties = models.PositiveBigIntegerField()
    apples = models.PositiveBigIntegerField()

    class Meta:
        db_table = "worm_matchups"
        constraints = [models.UniqueConstraint(fields=["model_name", "opponent_name"], name="worm_one_row_per_matchup")]

    def __str__(self) -> str:
        return f"{self.model_name} against {self.opponent_name}"


class LedgerState(models.Model):
    """One row: how many games have been counted, and how far they have been rated. `version` rises when either is done;
    answers are known by it.

    TrueSkill goes through the games in their order: the last one rated is kept, so that a later game only adds to it.
    """

    version = models.PositiveBigIntegerField(default=0)
    counted_games = models.PositiveBigIntegerField(default=0)
    rated_games = models.PositiveBigIntegerField(default=0)
    last_played_at = models.DateTimeField(null=True)
    last_finished_at = models.DateTimeField(null=True)
    last_game_id = models.CharField(max_length=100, default="")

    class Meta:
        db_table = "worm_state"

    def __str__(self) -> str:
        return f"version {self.version}"

    @classmethod
    def load(cls, *, lock: bool = False) -> LedgerState:
        rows: Any = cls.objects.select_for_update() if lock else cls.objects
        state: LedgerState
        state, _ = rows.get_or_create(pk=1)
        return state
