"""Sessions, battles, turns and attempts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.db import connection, models
from django.db.models import F, Min, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from arena.models.choices import AttemptStatus, BattleStatus, Purpose, Side, StartKind
from arena.models.compiled import Compiled
from arena.models.contestants import Contestant
from arena.models.defaults import _battle_id, _episode_id, _request_id, _secret, _session_id, _turn_id

Row = TypeVar("Row", bound=models.Model)


OF_VISITOR = """
SELECT session.*, last.battle_id AS last_battle_id, last.status AS last_status, votes.vote AS last_vote,
    (SELECT COUNT(*) FROM battles WHERE battles.session_id = session.session_id) AS battle_count,
    (
        SELECT instruction FROM turns WHERE turns.session_id = session.session_id
        ORDER BY battle_seq_in_session, seq LIMIT 1
    ) AS title,
    (
        SELECT instruction FROM turns WHERE turns.session_id = session.session_id
        ORDER BY battle_seq_in_session DESC, seq LIMIT 1
    ) AS latest_title,
    (
        SELECT votes.vote FROM turns LEFT JOIN votes ON votes.battle_id = turns.battle_id
        WHERE turns.session_id = session.session_id ORDER BY turns.battle_seq_in_session DESC, turns.seq LIMIT 1
    ) AS latest_vote
FROM sessions AS session
LEFT JOIN battles AS last ON last.session_id = session.session_id AND last.seq_in_session = (
    SELECT MAX(seq_in_session) FROM battles WHERE battles.session_id = session.session_id
)
LEFT JOIN votes ON votes.battle_id = last.battle_id
WHERE session.user_id = %s
ORDER BY session.last_active_at DESC, session.id DESC
LIMIT %s
"""
"""Every page asks this. Written by Django it takes twice the processor time of the whole answer."""


class SessionQuerySet(models.QuerySet["Session"]):
    def of_visitor(self, visitor: str, most: int) -> models.query.RawQuerySet[Session]:
        """A visitor's sessions, newest activity first, with `title` (the first instruction), `latest_title` and
        `latest_vote` (of the last battle with an instruction), `battle_count`, and id, status and vote of the last
        battle."""
        return self.raw(OF_VISITOR, [visitor, most])


def row_or_none(rows: models.QuerySet[Row]) -> Row | None:
    """The only row of a query, or None. Unlike `first`, it does not sort."""
    return next(iter(rows.order_by()), None)


def turns_of(attempts: Iterable[Attempt]) -> list[Turn]:
    """The turns of these attempts in order, with their attempts cached. The attempts are `with_turns`, and both of each
    turn."""
    turns: dict[str, Turn] = {}
    sides: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        attempt.turn = turns.setdefault(attempt.turn_id, attempt.turn)
        sides.setdefault(attempt.turn_id, []).append(attempt)
    for turn_id, turn in turns.items():
        turn.cache_attempts(sides[turn_id])
    return list(turns.values())


@cache
def _sides_of(kind: str) -> Compiled[Attempt]:
    """All attempts of a battle."""
    return Compiled(lambda battle_id: Attempt.objects.filter(turn__battle_id=battle_id).with_turns(kind))


def read_moment(value: Any) -> Any:
    """A moment that a hand-written statement returned, converted as Django does: an engine may lack the type."""
    column = Attempt._meta.get_field("started_at").cached_col
    for convert in connection.ops.get_db_converters(column):
        value = convert(value, column, connection)
    return value


OF_CONTESTANTS = ("name", "family", "provenance")
SHOWN = (
    *("battle_id", "status", "event_seq", "secret", "seed", "starts", "hidden_at"),
    *("session__user_id", "session__kind", "session__setting", "session__scene"),
    *(f"{side}_model__{column}" for side in ("left", "right") for column in OF_CONTESTANTS),
    *(f"vote__{column}" for column in ("battle", "vote_id", "vote", "voted_at", "reasons")),
)
"""The columns that a snapshot shows: all columns would cost a tenth more of the call."""


def names_known(prefix: str = "") -> Q:
    """Battles whose names staff may see: voted or spoiled. `prefix`: the lookup that leads to the battle."""
    return Q(**{f"{prefix}status": BattleStatus.VOTED}) | Q(**{f"{prefix}spoiled": True})


class BattleQuerySet(models.QuerySet["Battle"]):
    def with_titles(self) -> BattleQuerySet:
        """Adds `title`: the battle's first instruction."""
        turns = Turn.objects.filter(battle=OuterRef("battle_id")).order_by("seq")
        return self.annotate(title=Subquery(turns.values("instruction")[:1]))

    def public(self) -> BattleQuerySet:
        """Battles that anybody may see: those with a vote that no moderator has hidden."""
        return self.filter(status=BattleStatus.VOTED, hidden_at=None)

    def to_be_shown(self) -> BattleQuerySet:
        """With session, contestants and vote, and only those columns that are ever shown."""
        return self.select_related("session", "left_model", "right_model", "vote").only(*SHOWN)

    def to_be_revealed(self, introduced_with: Mapping[str, tuple[str, ...]]) -> BattleQuerySet:
        """With session and contestants, of which only what their kind tells with the vote (`Kind.introduced_with`)."""
        added = [f"{relation}__{column}" for relation, columns in introduced_with.items() for column in columns]
        sides = ("left_model", "right_model")
        joined = [f"{side}__{relation}" for side in sides for relation in introduced_with]
        columns = [f"{side}__{column}" for side in sides for column in (*OF_CONTESTANTS, "kind", *added)]
        own = [field.name for field in Battle._meta.concrete_fields]
        return self.select_related("session", *sides, *joined).only(*own, *columns)


class TurnQuerySet(models.QuerySet["Turn"]):
    def unsettled(self) -> TurnQuerySet:
        """Turns of which a side is still held, queued or running."""
        return self.filter(settled_at=None)

    def judged(self) -> TurnQuerySet:
        """Turns that a vote is about: all but forks, which come after it and count for nothing."""
        return self.filter(is_fork=False)

    def completed(self) -> TurnQuerySet:
        """Judged turns that both sides completed."""
        return self.judged().exclude(settled_at=None).exclude(attempts__status=AttemptStatus.FAILED)


OF_BOTH_SIDES = "FROM rollouts side WHERE side.turn_id = rollouts.turn_id"
LONGEST = f"SELECT MAX(side.steps_done) {OF_BOTH_SIDES}"
FAILED = f"SELECT SUM(CASE side.status WHEN %s THEN 1 ELSE 0 END) {OF_BOTH_SIDES}"
"""Every recording is asked for with these. Written by Django, they and their joins take twice the time."""


class AttemptQuerySet(models.QuerySet["Attempt"]):
    details: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """By kind, one-to-one relations to its own columns of an attempt. `arena.kinds.register` adds them."""

    def with_both_sides(self) -> AttemptQuerySet:
        """Adds `common_length`, the longer side's of the turn, and `failed_sides`."""
        longest = RawSQL(LONGEST, ())  # noqa: S611 - constants
        return self.annotate(common_length=longest, failed_sides=RawSQL(FAILED, (AttemptStatus.FAILED,)))  # noqa: S611

    def with_turns(self, kind: str = "") -> AttemptQuerySet:
        """All that `turns_of` needs. `kind`: of all of them, where it is known; columns of other kinds are not read."""
        details = self.details[kind] if kind else chain.from_iterable(self.details.values())
        return self.select_related("turn", *details).order_by("turn__seq", "side")

    def claim(self, episode_id: str, worker: str) -> bool:
        """Take a queued attempt. True for one caller only, however often its message arrives."""
        now = timezone.now()
        took = self.filter(episode_id=episode_id, status=AttemptStatus.QUEUED).update(
            status=AttemptStatus.RUNNING,
            tries=F("tries") + 1,
            worker=worker,
            heartbeat_at=now,
            length=0,
            started_at=Coalesce("started_at", now),
        )
        return took == 1

    def still_running(self, attempt: Attempt) -> AttemptQuerySet:
        """The row while this try plays it. Empty once the try was given up."""
        return self.filter(episode_id=attempt.episode_id, tries=attempt.tries, status=AttemptStatus.RUNNING)

    def running(self) -> AttemptQuerySet:
        return self.filter(status=AttemptStatus.RUNNING)

    def unanswered(self, since: datetime, until: datetime) -> AttemptQuerySet:
        """Queued attempts whose message was not sent between the two moments."""
        return self.filter(status=AttemptStatus.QUEUED).exclude(sent_at__range=(since, until))

    def first_started(self, since: datetime, until: datetime) -> dict[str, int]:
        """For each contestant, the smallest key of its attempts that a worker took between the two moments."""
        active = Q(status=AttemptStatus.RUNNING) | Q(finished_at__gte=since)
        rows = self.filter(active, started_at__range=(since, until)).order_by().values_list("model_id")
        return dict(rows.annotate(Min("pk")))


class Session(models.Model):
    """A visitor's session with one kind of contestants. Its title is its first instruction.

    `setting` and `scene` say where the contestants play, in the kind's own terms (robots: robot and scene).
    """

    session_id = models.CharField(max_length=50, unique=True, default=_session_id, editable=False)
    kind = models.CharField(max_length=20, help_text="As `arena.kinds` knows it.")
    setting = models.CharField(max_length=50, db_column="robot_id")
    scene = models.CharField(max_length=50, db_column="scene_id", blank=True)
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
    """Two hidden contestants against each other. `event_seq` counts its events. Raise it under a row lock."""

    battle_id = models.CharField(max_length=50, unique=True, default=_battle_id, editable=False)
    session = models.ForeignKey(
        Session, to_field="session_id", db_column="session_id", on_delete=models.PROTECT, related_name="battles"
    )
    seq_in_session = models.PositiveIntegerField(db_index=True)
    left_model = models.ForeignKey(
        Contestant, db_column="left_model_id", on_delete=models.PROTECT, related_name="battles_left"
    )
    right_model = models.ForeignKey(
        Contestant, db_column="right_model_id", on_delete=models.PROTECT, related_name="battles_right"
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
    hidden_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Since when a moderator hides it from the public. Its vote counts all the same.",
    )
    hidden_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    hidden_reason = models.CharField(max_length=500, blank=True, help_text="For moderators; it is never public.")
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
        permissions = [
            ("reveal_names", "Can reveal the names of a battle before its vote, which spoils it"),
            ("hide_battle", "Can hide a battle or an instruction from the public"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["session", "seq_in_session"], name="one_battle_per_place_in_session"),
            models.CheckConstraint(
                condition=~models.Q(left_model=models.F("right_model")), name="a_policy_never_meets_itself"
            ),
        ]

    def __str__(self) -> str:
        return self.battle_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self._state.adding and self.mixes_kinds:
            raise ValueError(f"{self.left_model_id} and {self.right_model_id} are not both of {self.session.kind}")
        super().save(*args, **kwargs)

    @property
    def mixes_kinds(self) -> bool:
        """Whether a contestant is of another kind than the session. Such a battle must never count."""
        return {self.left_model.kind, self.right_model.kind} != {self.session.kind}

    @property
    def names_known(self) -> bool:
        """Whether staff may see who plays, as the function `names_known` for queries."""
        return self.status == BattleStatus.VOTED or self.spoiled

    def turns_with_sides(self) -> list[Turn]:
        """All its turns in order, with their attempts: one query."""
        turns = turns_of(_sides_of(self.session.kind)(self.battle_id))
        for turn in turns:
            turn.battle = self
        return turns

    def cache_turns(self, turns: list[Turn]) -> None:
        """Let `turns.all()` answer these, as after `prefetch_related`."""
        self._prefetched_objects_cache = {"turns": turns}


class Turn(models.Model):
    """One instruction given to both sides. `arena.live.release` says when its outcome is shown."""

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
    instruction_hidden_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when a moderator hides its text from the public."
    )
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
    is_fork = models.BooleanField(
        default=False,
        db_column="exploration",
        db_index=True,
        help_text="Played after the vote, with the names known: counted nowhere.",
    )
    forked_from = models.ForeignKey(
        "self",
        to_field="turn_id",
        db_column="explores_turn_id",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="forks",
        help_text="Of a fork: the turn from whose recording it starts; none: its seed's first state.",
    )
    fork_record = models.PositiveIntegerField(
        null=True,
        blank=True,
        db_column="explores_record",
        help_text="The record from which it starts; a side that ended earlier starts at its end.",
    )
    fork_seed = models.PositiveIntegerField(
        null=True, blank=True, db_column="explores_seed", help_text="In place of the battle's seed."
    )
    fork_changes = models.JSONField(
        null=True, blank=True, help_text="Of a fork: what is changed in its start, in the kind's own terms."
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        db_table = "turns"
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["battle", "seq"], name="one_turn_per_place_in_battle"),
            models.CheckConstraint(
                condition=models.Q(is_fork=True, fork_seed__isnull=False)
                | models.Q(is_fork=False, forked_from=None, fork_record=None, fork_seed=None),
                name="only_explorations_say_where_they_start",
            ),
            models.CheckConstraint(
                condition=models.Q(fork_changes__isnull=True) | models.Q(is_fork=True),
                name="only_forks_change_their_start",
            ),
            models.CheckConstraint(
                condition=models.Q(start_seed=None) | models.Q(is_fork=False, start=StartKind.RESET),
                name="one_of_several_starts_is_a_first_state",
            ),
        ]

    def __str__(self) -> str:
        return self.turn_id

    @property
    def seed(self) -> int:
        """The seed of the first state, if the turn starts there, and of the contestants' random numbers."""
        own = self.fork_seed if self.is_fork else self.start_seed
        return self.battle.seed if own is None else own

    @property
    def public_instruction(self) -> str:
        """The instruction as anybody may read it."""
        return self.instruction if self.instruction_hidden_at is None else gettext("[hidden by a moderator]")

    def cache_attempts(self, attempts: list[Attempt]) -> None:
        """Let `attempts.all()` answer these, as after `prefetch_related`."""
        self._prefetched_objects_cache = {"attempts": attempts}


class Attempt(models.Model):
    """One side's attempt at a turn. Its recording has the same public id.

    A held attempt waits for admission (`arena.queue.admission`). Once queued, `sent_at` is when its message was last
    sent. A player claims it by a conditional update (queued -> running, tries + 1), and `heartbeat_at` shows that it
    is alive. `started_at` is that of the first try. `length` counts the chunks after the first one, which is the
    start. `success` and `progress` are the verdict of the kind's judge, null if it has none. Visitors may see the
    `termination_reason` of a failed attempt (`arena.shapes.FailureReason`); `error` is for moderators.
    """

    episode_id = models.CharField(max_length=50, unique=True, default=_episode_id, editable=False)
    turn = models.ForeignKey(
        Turn, to_field="turn_id", db_column="turn_id", on_delete=models.PROTECT, related_name="attempts"
    )
    side = models.CharField(max_length=5, choices=Side.choices)
    model = models.ForeignKey(Contestant, db_column="model_id", on_delete=models.PROTECT, related_name="attempts")
    status = models.CharField(max_length=20, choices=AttemptStatus.choices, default=AttemptStatus.QUEUED, db_index=True)
    tries = models.PositiveIntegerField(default=0, db_column="attempt")
    worker = models.CharField(max_length=100, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    length = models.PositiveIntegerField(default=0, db_column="steps_done")
    success = models.BooleanField(null=True, blank=True)
    progress = models.FloatField(null=True, blank=True)
    termination_reason = models.CharField(max_length=30, blank=True)
    duration_ms = models.FloatField(null=True, blank=True)
    error = models.TextField(blank=True)
    expired_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when its recording is no longer kept (arena.retention)."
    )
    recording_deleted = models.BooleanField(default=False, help_text="Of an expired one: the episode store has let go.")
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True, db_index=True)

    objects = AttemptQuerySet.as_manager()

    class Meta:
        db_table = "rollouts"
        ordering = ["turn", "side"]
        constraints = [models.UniqueConstraint(fields=["turn", "side"], name="one_rollout_per_side_of_a_turn")]

    def __str__(self) -> str:
        return self.episode_id

    @property
    def settled(self) -> bool:
        return self.status in (AttemptStatus.COMPLETED, AttemptStatus.FAILED)
