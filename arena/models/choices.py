"""The choices of columns."""

from __future__ import annotations

from django.db import models


class Side(models.TextChoices):
    LEFT = "left", "left"
    RIGHT = "right", "right"


class BattleStatus(models.TextChoices):
    ONGOING = "ongoing", "ongoing"
    VOTED = "voted", "voted"
    ABANDONED = "abandoned", "abandoned"


class AttemptStatus(models.TextChoices):
    """The state of one side's attempt. Held: not sent to be played yet. Settled: completed or failed."""

    HELD = "held", "held"
    QUEUED = "queued", "queued"
    RUNNING = "running", "running"
    COMPLETED = "completed", "completed"
    FAILED = "failed", "failed"


class StartKind(models.TextChoices):
    CONTINUE = "continue", "where each side ended"
    RESET = "reset", "the first state again"


class VoteChoice(models.TextChoices):
    LEFT_BETTER = "left_better", "left is better"
    RIGHT_BETTER = "right_better", "right is better"
    TIE = "tie", "tie"
    BOTH_BAD = "both_bad", "both bad"


class Purpose(models.TextChoices):
    """What a battle is for. Only ranking battles are counted, and visitors never see the purpose."""

    RANK = "rank", "ranking"
    GOLD = "gold", "gold: the answer is known beforehand"
    REPEAT = "repeat", "repeat of the voter's earlier battle, sides swapped"


class Judgement(models.TextChoices):
    """Which side was better in one respect."""

    LEFT = "left", "left"
    RIGHT = "right", "right"
    EQUAL = "equal", "equal"


class ProcessingStatus(models.TextChoices):
    PENDING = "pending", "pending"
    PROCESSED = "processed", "processed"
    FAILED = "failed", "failed"
