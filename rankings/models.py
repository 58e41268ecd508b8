"""Counts of votes, and all that the hourly aggregation writes (tables named as in V-DB-05..07)."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class BoardRow(models.Model):
    """One contestant on one board.

    `elo_score` and `elo_ci` come from the Bradley-Terry fit: Elo scale with mean 1500, and the half-width of the 95 %
    interval. `elo_sequential` is the classic Elo in the order of the votes (decision: ratings).
    """

    elo_score = models.IntegerField(default=1500, db_index=True)
    elo_ci = models.FloatField(default=200.0)
    elo_sequential = models.IntegerField(default=1500)
    vote_count = models.PositiveIntegerField(default=0, db_index=True)
    win_count = models.PositiveIntegerField(default=0)
    loss_count = models.PositiveIntegerField(default=0)
    tie_count = models.PositiveIntegerField(default=0)
    both_bad_count = models.PositiveIntegerField(default=0)
    win_rate = models.FloatField(default=0.0)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class ModelStatsByRobot(BoardRow):
    model = models.ForeignKey(
        "arena.Contestant", db_column="model_id", on_delete=models.PROTECT, related_name="stats_by_robot"
    )
    robot_id = models.CharField(max_length=50, db_index=True)

    class Meta:
        db_table = "model_stats_by_robot"
        constraints = [models.UniqueConstraint(fields=["model", "robot_id"], name="one_row_per_model_and_robot")]

    def __str__(self) -> str:
        return f"{self.model_id} on {self.robot_id}"


class ModelStatsTotal(BoardRow):
    model = models.OneToOneField(
        "arena.Contestant", db_column="model_id", on_delete=models.PROTECT, related_name="stats_total"
    )
    organization = models.CharField(max_length=255, blank=True)
    license = models.CharField(max_length=50, blank=True)

    class Meta:
        db_table = "model_stats_total"

    def __str__(self) -> str:
        return self.model_id


class WorkerStatus(models.Model):
    """The last run of a worker. The aggregation locks its row, so that concurrent runs take turns."""

    worker_name = models.CharField(max_length=100, unique=True)
    last_run_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True, help_text="The last run that wrote the boards.")
    status = models.CharField(max_length=50, blank=True)
    votes_processed = models.PositiveIntegerField(default=0)
    error_message = models.CharField(max_length=1000, null=True, blank=True)
    revision = models.PositiveBigIntegerField(
        default=0, help_text="Raised by each publication, and by each change of counts that is not a new vote."
    )

    class Meta:
        db_table = "worker_status"
        verbose_name_plural = "worker status"
        permissions = [("run_aggregation", "Can run the aggregation now")]

    def __str__(self) -> str:
        return self.worker_name


SUMS = ("left_better", "right_better", "tie", "both_bad")


class VoteCount(models.Model):
    """Votes of one voter on one pair in one order of sides, per setting, scene, task, day (UTC) and network.

    Boards are sums of these. They change in the transaction that stores, excludes or restores a vote, and only in
    `rankings.votes.ledger`.
    """

    robot_id = models.CharField(max_length=50)
    scene_id = models.CharField(max_length=50)
    task_id = models.CharField(max_length=50, blank=True, help_text="Empty: free text, or turns of several tasks.")
    left_model = models.ForeignKey(
        "arena.Contestant", db_column="left_model_id", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    right_model = models.ForeignKey(
        "arena.Contestant", db_column="right_model_id", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    voter = models.CharField(max_length=50, blank=True, help_text="Empty: nobody knows who.")
    day = models.DateField(db_index=True)
    network = models.CharField(max_length=24, blank=True, default="", help_text="As in `arena.models.Vote`.")
    left_better = models.PositiveIntegerField(default=0)
    right_better = models.PositiveIntegerField(default=0)
    tie = models.PositiveIntegerField(default=0)
    both_bad = models.PositiveIntegerField(default=0)

    class Meta:
        db_table = "vote_counts"
        constraints = [
            models.UniqueConstraint(
                fields=["robot_id", "scene_id", "task_id", "left_model", "right_model", "voter", "day", "network"],
                name="one_row_of_counts_per_board_pair_voter_day_and_network",
            )
        ]
        # The sums are in the index, so that those of a pair and of a contestant are read from it alone.
        indexes = [
            models.Index(fields=["left_model", "right_model", *SUMS], name="vote_counts_of_pair"),
            models.Index(fields=["right_model", *SUMS], name="vote_counts_of_right_model"),
        ]

    def __str__(self) -> str:
        return f"{self.left_model_id} - {self.right_model_id} by {self.voter or 'unknown'} on {self.day}"


class ClosedDay(models.Model):
    """Counts of a past day, in columns, and the facts of its votes (`rankings.votes.closed_days`).

    The aggregation makes this copy, and deletes it when a count of that day changes or when the copy is damaged. The
    stream ends with the SHA-256 of all that the row holds.
    """

    day = models.DateField(primary_key=True)
    last_vote = models.BigIntegerField(default=0, help_text="The last counted vote's primary key when the day closed.")
    counts = models.BinaryField(help_text="The rows of vote_counts, as an Arrow stream.")
    facts = models.BinaryField(help_text="A row per vote whose battle was played, as an Arrow stream.")
    answers = models.JSONField(
        default=dict, help_text="Kind -> voter -> calibration battles answered right, wrong and even."
    )

    class Meta:
        db_table = "closed_days"

    def __str__(self) -> str:
        return f"{self.day}"


class PastDay(models.Model):
    """Sums over the battles that were voted on on a past day (`rankings.votes.past_days`)."""

    day = models.DateField(primary_key=True)
    episodes = models.JSONField(
        help_text="Kind -> of each contestant and task: episodes, successes, progress, its squares, failures."
    )
    controls = models.JSONField(
        help_text="Kind -> voter -> calibration battles, their score, and repeats that named the same one "
        "and the other."
    )
    stale = models.BooleanField(default=False, help_text="Whether its votes have changed since.")

    class Meta:
        db_table = "past_days"

    def __str__(self) -> str:
        return f"{self.day}"


class CountedVote(models.Model):
    """The row of counts to which a vote belongs, and whether its sums include the vote.

    `counted` is False while the vote or its voter is excluded; `excluded` is True while the vote itself is.
    """

    vote = models.OneToOneField("arena.Vote", primary_key=True, on_delete=models.PROTECT, related_name="counted_vote")
    count = models.ForeignKey(VoteCount, on_delete=models.PROTECT, related_name="votes")
    counted = models.BooleanField(default=True, db_index=True)
    excluded = models.BooleanField(default=False, db_index=True)

    class Meta:
        db_table = "counted_votes"

    def __str__(self) -> str:
        return f"{self.vote_id} {'counted' if self.counted else 'not counted'}"


class ExcludedVoter(models.Model):
    """A voter whose votes do not count, future ones included. The audit log says who decided so and why."""

    voter = models.CharField(max_length=50, primary_key=True)

    class Meta:
        db_table = "excluded_voters"

    def __str__(self) -> str:
        return self.voter


class ClassicElo(models.Model):
    """The classic Elo of one board, from which the next run continues.

    `last_voted_at` and `last_vote_id` (a primary key) name the last vote included. `stale` asks for all votes again.
    """

    kind = models.CharField(max_length=20)
    board = models.CharField(max_length=100)
    ratings = models.JSONField(default=dict)
    last_voted_at = models.DateTimeField(null=True)
    last_vote_id = models.BigIntegerField(default=0)
    stale = models.BooleanField(default=False)

    class Meta:
        db_table = "classic_elo"
        constraints = [models.UniqueConstraint(fields=["kind", "board"], name="one_classic_elo_per_kind_and_board")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.board}"


class Snapshot(models.Model):
    """One publication of a kind: every board, with its input, code and rules.

    `boards`: name of a board -> its rows (`publication.snapshots`). `counts`: the gzipped CSV of all counts, with
    voters renumbered. `input_hash`: SHA-256 of that CSV.
    """

    kind = models.CharField(max_length=20, help_text="As `arena.kinds` knows it.")
    made_at = models.DateTimeField(default=timezone.now, db_index=True)
    input_hash = models.CharField(max_length=64)
    code_version = models.CharField(max_length=64)
    settings = models.JSONField(default=dict)
    boards = models.JSONField(default=dict)
    counts = models.BinaryField()

    class Meta:
        db_table = "ranking_snapshots"
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.made_at:%Y-%m-%d %H:%M} {self.input_hash[:12]}"


class Report(models.Model):
    """All that is shown beside the boards of a snapshot (`rankings.publication.report.ReportContent`)."""

    snapshot = models.OneToOneField(Snapshot, primary_key=True, on_delete=models.CASCADE, related_name="report")
    content = models.JSONField(default=dict)

    class Meta:
        db_table = "ranking_reports"

    def __str__(self) -> str:
        return str(self.snapshot)


class Finding(models.Model):
    """Something for moderators to look at. When it is found again it is renewed, but stays dismissed if it was."""

    class Kind(models.TextChoices):
        OUTLIER = "outlier", "votes unlike everybody else's"
        CAMPAIGN = "campaign", "new voters who push one policy"
        UNRELIABLE = "unreliable", "fails repeated battles"
        SHADOW = "shadow", "new and flagged voters move a policy"
        PARTED = "parted", "votes and physics part"

    class State(models.TextChoices):
        OPEN = "open", "open"
        ACTED = "acted", "acted on"
        DISMISSED = "dismissed", "dismissed"

    kind = models.CharField(max_length=20, choices=Kind.choices)
    arena = models.CharField(
        max_length=20, blank=True, default="", help_text="The kind of arena it was found in; empty: it holds in all."
    )
    subject = models.CharField(max_length=255, help_text="A voter, a policy, a task or a campaign.")
    summary = models.CharField(max_length=500)
    evidence = models.JSONField(default=dict)
    state = models.CharField(max_length=20, choices=State.choices, default=State.OPEN, db_index=True)
    found_at = models.DateTimeField(default=timezone.now)
    renewed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ranking_findings"
        ordering = ["-renewed_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["kind", "arena", "subject"], name="one_finding_per_kind_arena_and_subject")
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.subject}"


class ModerationAct(models.Model):
    """The audit log: what staff did, to whom, when and why. Its rows never change."""

    class Action(models.TextChoices):
        EXCLUDE_VOTE = "exclude_vote", "excluded a vote"
        RESTORE_VOTE = "restore_vote", "restored a vote"
        EXCLUDE_VOTER = "exclude_voter", "excluded a voter"
        RESTORE_VOTER = "restore_voter", "restored a voter"
        DISMISS = "dismiss", "dismissed a finding"
        PUBLISH = "publish", "published within the hour"
        HIDE_BATTLE = "hide_battle", "hid a battle"
        SHOW_BATTLE = "show_battle", "showed a battle again"
        HIDE_INSTRUCTION = "hide_instruction", "hid an instruction"
        SHOW_INSTRUCTION = "show_instruction", "showed an instruction again"
        HIDE_COMMENT = "hide_comment", "hid a comment"
        SHOW_COMMENT = "show_comment", "published a comment"
        DISMISS_REPORT = "dismiss_report", "dismissed a report"
        RETIRE = "retire", "retired a model"
        ACTIVATE = "activate", "activated a model"
        PUBLISH_TASK = "publish_task", "published a task"
        WITHDRAW_TASK = "withdraw_task", "withdrew a task"
        APPROVE_SUBMISSION = "approve_submission", "approved a submitted policy"
        REFUSE_SUBMISSION = "refuse_submission", "refused a submitted policy"
        PUBLISH_SCENE = "publish_scene", "published a scene"
        WITHDRAW_SCENE = "withdraw_scene", "withdrew a scene"

    action = models.CharField(max_length=20, choices=Action.choices, db_index=True)
    subject = models.CharField(
        max_length=255, db_index=True, help_text="What it was done to, such as a vote, a voter or a battle."
    )
    reason = models.CharField(max_length=500)
    votes = models.PositiveIntegerField(default=0, help_text="How many votes it took out or brought back.")
    moderator = models.ForeignKey(
        "auth.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="Empty: a command."
    )
    moderator_name = models.CharField(max_length=150, blank=True)
    done_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "moderation_acts"
        ordering = ["-done_at", "-pk"]
        permissions = [("moderate_votes", "Can exclude and restore votes and voters")]

    def __str__(self) -> str:
        return f"{self.moderator_name or 'a command'} {self.get_action_display()}: {self.subject}"
