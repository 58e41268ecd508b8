"""Sessions, battles, turns, rollouts and votes. Tables and columns are named as in the requirements V-DB-01..04."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any, TypeVar

from django.db import connection, models
from django.db.models import Count, F, Min, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from structlog.contextvars import get_contextvars

from arena.ids import new_id

Row = TypeVar("Row", bound=models.Model)


class Side(models.TextChoices):
    LEFT = "left", "left"
    RIGHT = "right", "right"


class BattleStatus(models.TextChoices):
    ONGOING = "ongoing", "ongoing"
    VOTED = "voted", "voted"
    ABANDONED = "abandoned", "abandoned"


class RolloutStatus(models.TextChoices):
    """Where one side's attempt stands. Settled means completed or failed."""

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
    """What a battle is for. Only those for the ranking are counted; no visitor is told which is which."""

    RANK = "rank", "ranking"
    GOLD = "gold", "gold: the answer is known beforehand"
    REPEAT = "repeat", "repeat of the voter's earlier battle, sides swapped"


class Judgement(models.TextChoices):
    """Which side was better in one respect."""

    LEFT = "left", "left"
    RIGHT = "right", "right"
    EQUAL = "equal", "equal"


REASONS = ("closer", "smoother", "safer", "faster")


class ProcessingStatus(models.TextChoices):
    PENDING = "pending", "pending"
    PROCESSED = "processed", "processed"
    FAILED = "failed", "failed"


def _session_id() -> str:
    return new_id("sess")


def _battle_id() -> str:
    return new_id("battle")


def _turn_id() -> str:
    return new_id("turn")


def _episode_id() -> str:
    return new_id("ep")


def _vote_id() -> str:
    return new_id("vote")


def _secret() -> str:
    return secrets.token_hex(16)


def _request_id() -> str:
    return str(get_contextvars().get("request_id", ""))


class SessionQuerySet(models.QuerySet["Session"]):
    def of_visitor(self, visitor: str) -> SessionQuerySet:
        """A visitor's sessions, newest activity first, with `title` (the first instruction), `battle_count`, and id,
        status and vote of the last battle."""
        last = Battle.objects.filter(session=OuterRef("session_id")).order_by("-seq_in_session")
        first = Turn.objects.filter(session=OuterRef("session_id")).order_by("battle_seq_in_session", "seq")
        return (
            self.filter(user_id=visitor)
            .annotate(
                title=Subquery(first.values("instruction")[:1]),
                battle_count=Count("battles"),
                last_battle_id=Subquery(last.values("battle_id")[:1]),
                last_status=Subquery(last.values("status")[:1]),
                last_vote=Subquery(last.values("vote__vote")[:1]),
            )
            .order_by("-last_active_at", "-pk")
        )


def row_or_none(rows: models.QuerySet[Row]) -> Row | None:
    """The one row that there can be; None without it. `first` would sort it, which takes longer than finding it."""
    return next(iter(rows.order_by()), None)


def read_moment(value: Any) -> Any:
    """What a statement by hand says of a column with moments, as Django reads it: an engine may know no such type."""
    column = Rollout._meta.get_field("started_at").cached_col
    for convert in connection.ops.get_db_converters(column):
        value = convert(value, column, connection)
    return value


TOLD_OF_POLICIES = ("name", "family", "provenance")
SHOWN = (
    *("battle_id", "status", "event_seq", "secret", "seed", "starts"),
    *("session__user_id", "session__robot_id", "session__scene_id"),
    *(f"{side}_model__{column}" for side in ("left", "right") for column in TOLD_OF_POLICIES),
    *(f"vote__{column}" for column in ("battle", "vote_id", "vote", "voted_at", *REASONS)),
)
"""The columns of a battle and of what belongs to it that are told."""


def names_known(prefix: str = "") -> Q:
    """Battles whose names staff may see: with a vote, or spoiled. `prefix`: the way to the battle."""
    return Q(**{f"{prefix}status": BattleStatus.VOTED}) | Q(**{f"{prefix}spoiled": True})


class BattleQuerySet(models.QuerySet["Battle"]):
    def with_titles(self) -> BattleQuerySet:
        """Adds `title`: the battle's first instruction."""
        turns = Turn.objects.filter(battle=OuterRef("battle_id")).order_by("seq")
        return self.annotate(title=Subquery(turns.values("instruction")[:1]))

    def to_be_shown(self) -> BattleQuerySet:
        """With session, policies and vote, of each but what is told of it sooner or later."""
        return self.select_related("session", "left_model", "right_model", "vote").only(*SHOWN)


class TurnQuerySet(models.QuerySet["Turn"]):
    def unsettled(self) -> TurnQuerySet:
        """Turns of which a side is still queued or running."""
        return self.filter(settled_at=None)

    def judged(self) -> TurnQuerySet:
        """Turns that a vote is about: without explorations, which come after it and count for nothing."""
        return self.filter(exploration=False)

    def completed(self) -> TurnQuerySet:
        """Turns that a vote is about and that both sides completed."""
        return self.judged().exclude(settled_at=None).exclude(rollouts__status=RolloutStatus.FAILED)


class RolloutQuerySet(models.QuerySet["Rollout"]):
    def by_turn(self) -> list[Turn]:
        """The turns of these rollouts in their order, each knowing its own: one query. Ask it of whole turns."""
        turns: dict[str, Turn] = {}
        sides: dict[str, list[Rollout]] = {}
        for rollout in self.select_related("turn").order_by("turn__seq", "side"):
            rollout.turn = turns.setdefault(rollout.turn_id, rollout.turn)
            sides.setdefault(rollout.turn_id, []).append(rollout)
        for turn_id, turn in turns.items():
            turn.know_rollouts(sides[turn_id])
        return list(turns.values())

    def claim(self, episode_id: str, worker: str) -> bool:
        """Take a queued rollout: True for one caller, False for everybody else, however often its message comes."""
        now = timezone.now()
        took = self.filter(episode_id=episode_id, status=RolloutStatus.QUEUED).update(
            status=RolloutStatus.RUNNING,
            attempt=F("attempt") + 1,
            worker=worker,
            heartbeat_at=now,
            steps_done=0,
            started_at=Coalesce("started_at", now),
        )
        return took == 1

    def attempt_running(self, episode_id: str, attempt: int) -> RolloutQuerySet:
        """The rollout while this attempt plays it; empty once the attempt was given up."""
        return self.filter(episode_id=episode_id, attempt=attempt, status=RolloutStatus.RUNNING)

    def running(self) -> RolloutQuerySet:
        return self.filter(status=RolloutStatus.RUNNING)

    def unanswered(self, since: datetime, until: datetime) -> RolloutQuerySet:
        """Queued ones whose message was not sent between the two moments; held ones have none."""
        queued = self.filter(status=RolloutStatus.QUEUED, heartbeat_at__isnull=False)
        return queued.exclude(heartbeat_at__range=(since, until))

    def first_started(self, since: datetime, until: datetime) -> dict[str, int]:
        """For each policy, the earliest entered of its rollouts that a worker took between the two moments."""
        lately = Q(status=RolloutStatus.RUNNING) | Q(finished_at__gte=since)
        rows = self.filter(lately, started_at__range=(since, until)).order_by().values_list("model_id")
        return dict(rows.annotate(Min("pk")))


class Session(models.Model):
    """A visitor's stay with one robot and scene. Its title is its first instruction (`arena.selectors`)."""

    session_id = models.CharField(max_length=50, unique=True, default=_session_id, editable=False)
    robot_id = models.CharField(max_length=50)
    scene_id = models.CharField(max_length=50)
    user_id = models.CharField(max_length=50, null=True, blank=True, db_index=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_active_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        db_table = "sessions"
        ordering = ["-last_active_at"]

    def __str__(self) -> str:
        return self.session_id


class Battle(models.Model):
    """Two hidden policies against each other. `event_seq` counts its events; raise it under a row lock."""

    battle_id = models.CharField(max_length=50, unique=True, default=_battle_id, editable=False)
    session = models.ForeignKey(
        Session, to_field="session_id", db_column="session_id", on_delete=models.PROTECT, related_name="battles"
    )
    seq_in_session = models.PositiveIntegerField(db_index=True)
    left_model = models.ForeignKey(
        "policies.Policy", db_column="left_model_id", on_delete=models.PROTECT, related_name="battles_left"
    )
    right_model = models.ForeignKey(
        "policies.Policy", db_column="right_model_id", on_delete=models.PROTECT, related_name="battles_right"
    )
    seed = models.PositiveIntegerField(help_text="Makes the first state of both sides.")
    starts = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        help_text="From how many first states its instruction is played before the vote: arena.starts.",
    )
    secret = models.CharField(
        max_length=32,
        blank=True,
        default=_secret,
        editable=False,
        help_text="Hexadecimal. Varies what both policies see, alike; told with the vote. Empty: none was drawn.",
    )
    render_profile = models.CharField(
        max_length=120,
        blank=True,
        editable=False,
        help_text="What renders for both sides; empty until one has started.",
    )
    spoiled = models.BooleanField(
        default=False, help_text="A member of staff saw the names before the vote: the battle counts nowhere."
    )
    status = models.CharField(max_length=20, choices=BattleStatus.choices, default=BattleStatus.ONGOING, db_index=True)
    event_seq = models.PositiveIntegerField(default=0)
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.RANK)
    repeats = models.ForeignKey(
        "self",
        to_field="battle_id",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="repeated_by",
        help_text="Of a repeat: the earlier battle.",
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = BattleQuerySet.as_manager()

    class Meta:
        db_table = "battles"
        ordering = ["-created_at"]
        permissions = [("reveal_names", "Can reveal the names of a battle before its vote, which spoils it")]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq_in_session"], name="one_battle_per_place_in_session"),
            models.CheckConstraint(
                condition=~models.Q(left_model=models.F("right_model")), name="a_policy_never_meets_itself"
            ),
        ]

    def __str__(self) -> str:
        return self.battle_id

    @property
    def names_known(self) -> bool:
        """Whether staff may see who plays: as `names_known` of rows."""
        return self.status == BattleStatus.VOTED or self.spoiled

    def turns_with_sides(self) -> list[Turn]:
        """All its turns in their order, with their rollouts: one query."""
        turns = Rollout.objects.filter(turn__battle=self).by_turn()
        for turn in turns:
            turn.battle = self
        return turns

    def know_turns(self, turns: list[Turn]) -> None:
        """Take these for `turns.all()`, as after `prefetch_related`."""
        self._prefetched_objects_cache = {"turns": turns}


class Turn(models.Model):
    """One instruction given to both sides. `arena.release` says when what becomes of it is shown."""

    turn_id = models.CharField(max_length=50, unique=True, default=_turn_id, editable=False)
    session = models.ForeignKey(
        Session, to_field="session_id", db_column="session_id", on_delete=models.PROTECT, related_name="turns"
    )
    battle = models.ForeignKey(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.PROTECT, related_name="turns"
    )
    battle_seq_in_session = models.PositiveIntegerField(db_index=True)
    seq = models.PositiveIntegerField(db_index=True)
    instruction = models.TextField()
    start = models.CharField(max_length=20, choices=StartKind.choices, default=StartKind.CONTINUE)
    settled_at = models.DateTimeField(null=True, blank=True, db_index=True)
    release_from = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the first step is shown, of both sides; the clock of the turn starts here.",
    )
    shown_at = models.DateTimeField(
        null=True, blank=True, help_text="When visitors are told that the turn has settled: at the end of its clock."
    )
    told_seq = models.PositiveIntegerField(
        null=True, blank=True, help_text="The battle's event number that visitors know until `shown_at`."
    )
    caller = models.CharField(
        max_length=24, blank=True, help_text="A keyed digest of the address it came from; forgotten when it settles."
    )
    network = models.CharField(
        max_length=24, blank=True, help_text="The same of the address' /24 or /48; empty where it is exempt."
    )
    request_id = models.CharField(
        max_length=50, blank=True, default=_request_id, editable=False, help_text="Who sent it, as log lines name it."
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    start_seed = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of a battle of several starts: which of them this turn plays."
    )
    exploration = models.BooleanField(
        default=False, db_index=True, help_text="Played after the vote, with the names known: counted nowhere."
    )
    explores = models.ForeignKey(
        "self",
        to_field="turn_id",
        db_column="explores_turn_id",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="explorations",
        help_text="Of an exploration: the turn from whose recording it starts; none: its seed's first state.",
    )
    explores_record = models.PositiveIntegerField(
        null=True, blank=True, help_text="The record from which it starts; a side that ended earlier starts at its end."
    )
    explores_seed = models.PositiveIntegerField(null=True, blank=True, help_text="In place of the battle's seed.")

    objects = TurnQuerySet.as_manager()

    class Meta:
        db_table = "turns"
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["battle", "seq"], name="one_turn_per_place_in_battle"),
            models.CheckConstraint(
                condition=models.Q(exploration=True, explores_seed__isnull=False)
                | models.Q(exploration=False, explores=None, explores_record=None, explores_seed=None),
                name="only_explorations_say_where_they_start",
            ),
            models.CheckConstraint(
                condition=models.Q(start_seed=None) | models.Q(exploration=False, start=StartKind.RESET),
                name="one_of_several_starts_is_a_first_state",
            ),
        ]

    def __str__(self) -> str:
        return self.turn_id

    @property
    def seed(self) -> int:
        """Of the first state, where the turn starts there, and of the policies' chance."""
        own = self.explores_seed if self.exploration else self.start_seed
        return self.battle.seed if own is None else own

    def know_rollouts(self, rollouts: list[Rollout]) -> None:
        """Take these for `rollouts.all()`, as after `prefetch_related`: they were made just now, or read otherwise."""
        self._prefetched_objects_cache = {"rollouts": rollouts}


class Rollout(models.Model):
    """One side's attempt at a turn. Its episode in MongoDB has the same public id.

    A worker claims it by a conditional update (queued -> running, attempt + 1) and proves it lives by `heartbeat_at`.
    While it is queued, `heartbeat_at` is when its message was last sent; null: it is held, and none was (arena.queue).
    `started_at` is that of the first attempt.
    Of a failed one, `termination_reason` may be told (`arena.shapes.FailureReason`); `error` is for moderators.
    """

    episode_id = models.CharField(max_length=50, unique=True, default=_episode_id, editable=False)
    turn = models.ForeignKey(
        Turn, to_field="turn_id", db_column="turn_id", on_delete=models.PROTECT, related_name="rollouts"
    )
    side = models.CharField(max_length=5, choices=Side.choices)
    model = models.ForeignKey(
        "policies.Policy", db_column="model_id", on_delete=models.PROTECT, related_name="rollouts"
    )
    status = models.CharField(max_length=20, choices=RolloutStatus.choices, default=RolloutStatus.QUEUED, db_index=True)
    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=100, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    steps_done = models.PositiveIntegerField(default=0)
    success = models.BooleanField(null=True, blank=True)
    progress = models.FloatField(null=True, blank=True)
    termination_reason = models.CharField(max_length=30, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    render_ms = models.FloatField(null=True, blank=True)
    infer_ms = models.FloatField(null=True, blank=True)
    physics_ms = models.FloatField(null=True, blank=True)
    store_ms = models.FloatField(null=True, blank=True)
    error = models.TextField(blank=True)
    start_hash = models.CharField(max_length=64, blank=True)
    expired_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when its recording is no longer kept (arena.retention)."
    )
    recording_deleted = models.BooleanField(default=False, help_text="Of an expired one: the episode store has let go.")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True, db_index=True)

    objects = RolloutQuerySet.as_manager()

    class Meta:
        db_table = "rollouts"
        ordering = ["turn", "side"]
        constraints = [models.UniqueConstraint(fields=["turn", "side"], name="one_rollout_per_side_of_a_turn")]

    def __str__(self) -> str:
        return self.episode_id

    @property
    def settled(self) -> bool:
        return self.status in (RolloutStatus.COMPLETED, RolloutStatus.FAILED)

    @property
    def held(self) -> bool:
        """It waits until earlier turns of its visitor are done; no worker has heard of it."""
        return self.status == RolloutStatus.QUEUED and self.heartbeat_at is None


class Vote(models.Model):
    """Ends a battle. Append-only but for the processing columns; keeps its copies of what it judged."""

    vote_id = models.CharField(max_length=50, unique=True, default=_vote_id, editable=False)
    battle = models.OneToOneField(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.PROTECT, related_name="vote"
    )
    session = models.ForeignKey(
        Session, to_field="session_id", db_column="session_id", on_delete=models.PROTECT, related_name="votes"
    )
    user_id = models.CharField(max_length=50, null=True, blank=True, db_index=True)
    robot_id = models.CharField(max_length=50, db_index=True)
    scene_id = models.CharField(max_length=50, db_index=True)
    left_model = models.ForeignKey(
        "policies.Policy",
        db_column="left_model_id",
        on_delete=models.PROTECT,
        related_name="votes_left",
        db_index=False,
    )
    right_model = models.ForeignKey(
        "policies.Policy",
        db_column="right_model_id",
        on_delete=models.PROTECT,
        related_name="votes_right",
        db_index=False,
    )
    vote = models.CharField(max_length=20, choices=VoteChoice.choices)
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.RANK, db_index=True)
    address = models.CharField(
        max_length=24, blank=True, editable=False, help_text="A keyed digest of the address that it came from."
    )
    network = models.CharField(
        max_length=24,
        blank=True,
        editable=False,
        help_text="A keyed digest of the address' /24 or /48; empty for networks without a cap and for old votes.",
    )
    dwell_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="From both sides' end of the last completed turn to the vote."
    )
    closer = models.CharField(
        max_length=5, blank=True, choices=Judgement.choices, help_text="Who came closer to the goal; empty: not said."
    )
    smoother = models.CharField(max_length=5, blank=True, choices=Judgement.choices)
    safer = models.CharField(max_length=5, blank=True, choices=Judgement.choices)
    faster = models.CharField(max_length=5, blank=True, choices=Judgement.choices)
    processing_status = models.CharField(
        max_length=20, choices=ProcessingStatus.choices, default=ProcessingStatus.PENDING, db_index=True
    )
    processed_at = models.DateTimeField(null=True, blank=True)
    error_message = models.TextField(null=True, blank=True)
    voted_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "votes"
        ordering = ["-voted_at"]
        indexes = [
            models.Index(fields=["left_model", "voted_at"], name="newest_votes_of_left_model"),
            models.Index(fields=["right_model", "voted_at"], name="newest_votes_of_right_model"),
            models.Index(fields=["network", "voted_at"], name="votes_of_a_network"),
        ]

    def __str__(self) -> str:
        return self.vote_id


class NetworkKey(models.Model):
    """What keys the digests of networks for 28 days (`arena.networks`). Shown nowhere, and left out of backups."""

    period = models.PositiveIntegerField(primary_key=True, help_text="Days since 1970, divided by 28.")
    secret = models.CharField(max_length=64, editable=False)

    class Meta:
        db_table = "network_keys"

    def __str__(self) -> str:
        return f"the key of period {self.period}"


class TurnLine(models.Model):
    """One row, locked by whoever adds a turn: so the bounds of the line hold however many add one at once."""

    ONLY = 1

    class Meta:
        db_table = "turn_line"

    def __str__(self) -> str:
        return "the line of turns"
