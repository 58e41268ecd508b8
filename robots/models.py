"""The tables that robots add to those of the core."""

from __future__ import annotations

import secrets

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from arena.addresses import AddressRefused
from arena.models import Attempt, Battle
from policies.base import BadCard
from policies.remote.addresses import check_address
from policies.remote.contract import checked_key_variable


def _token() -> str:
    return secrets.token_urlsafe(24)


class Rollout(models.Model):
    """The start of a completed attempt of a robot policy, and how its time was spent [wall ms].

    `store_ms` is the time to store its episode, which comes after the attempt's `duration_ms`.
    """

    attempt = models.OneToOneField(
        Attempt, to_field="episode_id", db_column="episode_id", primary_key=True, on_delete=models.CASCADE
    )
    start_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the state in which it started.")
    render_ms = models.FloatField(null=True, blank=True)
    infer_ms = models.FloatField(null=True, blank=True)
    physics_ms = models.FloatField(null=True, blank=True)
    store_ms = models.FloatField(null=True, blank=True)

    class Meta:
        db_table = "robot_rollouts"

    def __str__(self) -> str:
        return str(self.attempt_id)


class FirstState(models.Model):
    """What a battle's first turn begins with, as viewers show it before the vote. A worker makes it: the web process
    loads no physics. It follows from the battle's seed alone."""

    battle = models.OneToOneField(
        Battle, to_field="battle_id", db_column="battle_id", primary_key=True, on_delete=models.CASCADE
    )
    row = models.BinaryField(default=bytes, help_text="A packed view row (simulation.view_format); empty until made.")
    left_out = models.JSONField(
        null=True, help_text="Things of the scene that are not there; null while that is unknown."
    )
    made_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "robot_first_states"
        indexes = [
            models.Index(fields=["asked_at"], condition=models.Q(made_at=None), name="first_states_to_be_made"),
        ]

    def __str__(self) -> str:
        return str(self.battle_id)


class Publication(models.Model):
    """YAML that moderators wrote. What is published never changes: it is withdrawn, and recordings are judged by it for
    ever."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        PUBLISHED = "published", "published"
        WITHDRAWN = "withdrawn", "withdrawn"

    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT, db_index=True)
    edition = models.PositiveIntegerField(
        null=True, blank=True, unique=True, help_text="Counts publications and withdrawals; processes compare it."
    )
    since = models.DateTimeField(null=True, blank=True, help_text="From when on sentences may mean it.")
    until = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        abstract = True


class Trial(models.Model):
    """What a worker does with a publication for its moderator: it draws a start, checks it, or plays it."""

    class What(models.TextChoices):
        START = "start", "a start"
        CHECK = "check", "a check"
        PLAY = "play", "a rollout"

    what = models.CharField(max_length=5, choices=What.choices)
    seed = models.PositiveIntegerField(default=0)
    asked_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(default=dict, blank=True)
    picture = models.BinaryField(default=bytes, help_text="WebP: the start, or the end of the rollout.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.what} {self.pk}"


class PublishedTask(Publication):
    """A task beside those of the catalogue's files (robots.published_tasks)."""

    task_id = models.CharField(max_length=60, blank=True, db_index=True, help_text="As the YAML says; empty if unread.")
    yaml = models.TextField(max_length=20_000, help_text="A list of one entry, as docs/goals.md describes it.")

    class Meta:
        db_table = "robot_published_tasks"
        verbose_name = "task"
        constraints = [
            models.UniqueConstraint(
                fields=["task_id"], condition=~models.Q(state="draft"), name="published_tasks_have_ids_of_their_own"
            )
        ]

    def __str__(self) -> str:
        return self.task_id or f"task {self.pk}"


class TaskTrial(Trial):
    """Of a task; a policy plays it."""

    task = models.ForeignKey(PublishedTask, on_delete=models.CASCADE, related_name="trials")
    yaml = models.TextField(help_text="The task as it was then.")
    model_id = models.CharField(max_length=100, blank=True, help_text="The policy that plays.")

    class Meta:
        db_table = "robot_task_trials"


class PublishedScene(Publication):
    """A scene beside those of the catalogue's files (robots.published_scenes). Browsers load `manifest` and `xml`."""

    scene_id = models.CharField(
        max_length=50, blank=True, db_index=True, help_text="As the YAML says; empty if unread."
    )
    yaml = models.TextField(max_length=20_000, help_text="A list of one entry, as docs/worlds.md describes it.")
    manifest = models.JSONField(default=dict, blank=True)
    xml = models.TextField(blank=True)

    class Meta:
        db_table = "robot_published_scenes"
        verbose_name = "scene"
        constraints = [
            models.UniqueConstraint(
                fields=["scene_id"], condition=~models.Q(state="draft"), name="published_scenes_have_ids_of_their_own"
            )
        ]

    def __str__(self) -> str:
        return self.scene_id or f"scene {self.pk}"


class SceneTrial(Trial):
    """Of a scene; the expert plays it. `manifest` and `xml`: of the text that was checked or drawn."""

    scene = models.ForeignKey(PublishedScene, on_delete=models.CASCADE, related_name="trials")
    yaml = models.TextField(help_text="The scene as it was then.")
    manifest = models.JSONField(default=dict, blank=True)
    xml = models.TextField(blank=True)

    class Meta:
        db_table = "robot_scene_trials"


class RemoteTrial(models.Model):
    """A server that an operator wants entered as a policy. A worker connects, plays a dry episode and enters it."""

    model_id = models.SlugField(
        "id", max_length=100, help_text="Of the policy: a new id, or that of a remote policy that is to be updated."
    )
    url = models.CharField(
        "address",
        max_length=500,
        help_text="Of openpi's protocol, such as ws://gpu-3:8000 or wss://gpu.example.org; or of OpenVLA's, such as "
        "http://gpu-3:8000/act or https://gpu.example.org/act.",
    )
    key_variable = models.CharField(
        max_length=100, blank=True, help_text="Environment variable of the workers with its key; ends in _API_KEY."
    )
    contract = models.JSONField(
        default=dict,
        blank=True,
        help_text='What the server does not declare of itself, such as {"chunk": 8}: docs/bring-your-own-policy.md.',
    )
    asked_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    done_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(blank=True, help_text="Why it was refused, or how long an inference took.")
    entered = models.BooleanField(default=False)

    class Meta:
        db_table = "robot_remote_trials"
        verbose_name = "remote policy to try"
        verbose_name_plural = "remote policies to try"

    def __str__(self) -> str:
        return f"{self.model_id} at {self.url}"

    def clean(self) -> None:
        """What needs no connection."""
        try:
            check_address(self.url)
        except AddressRefused as refused:
            raise ValidationError({"url": str(refused)}) from None
        try:
            checked_key_variable(self.key_variable)
        except BadCard as refused:
            raise ValidationError({"key_variable": str(refused).removeprefix("policy.json: key_variable: ")}) from None
        if not isinstance(self.contract, dict):
            raise ValidationError({"contract": 'A JSON object, such as {"chunk": 8}.'})


class Submission(models.Model):
    """A researcher's wish that a policy of theirs plays here. Moderators decide; a worker then tries its server.

    `token` is the address of its page, which only whoever sent it knows. `contact` is for moderators alone.
    """

    class State(models.TextChoices):
        WAITING = "waiting", gettext_lazy("waiting for a moderator")
        APPROVED = "approved", gettext_lazy("approved")
        REFUSED = "refused", gettext_lazy("refused")

    token = models.CharField(max_length=40, unique=True, default=_token, editable=False)
    model_id = models.SlugField("id", max_length=100, db_index=True)
    name = models.CharField(max_length=255)
    organization = models.CharField(max_length=255, blank=True)
    license = models.CharField(max_length=50)
    provenance = models.TextField(max_length=2000, help_text="Who trained it, on what.")
    variant_of = models.SlugField(max_length=100, blank=True, help_text="The id of another policy.")
    url = models.CharField("address", max_length=500, blank=True, help_text="Of its server; empty: it is a folder.")
    folder = models.CharField(max_length=500, blank=True, help_text="Where its weights can be fetched.")
    contract = models.JSONField(default=dict, blank=True)
    contact = models.CharField(max_length=255)
    visitor = models.CharField(max_length=50, blank=True, db_index=True, editable=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING, db_index=True)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it was refused; whoever sent it reads this.")
    trial = models.OneToOneField(
        RemoteTrial, null=True, blank=True, on_delete=models.SET_NULL, related_name="submission"
    )
    decided_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "robot_submissions"
        ordering = ["-created_at"]
        permissions = [("decide_submission", "Can approve and refuse submitted policies")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(url="") ^ models.Q(folder=""), name="a_submission_has_an_address_or_a_folder"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model_id} of {self.organization or 'unknown'}"


class PolicyRevision(models.Model):
    """A revision that a policy has had, as its model page shows them. The row of the policy has the present one."""

    policy_id = models.CharField(max_length=255)
    revision = models.CharField(max_length=64)
    since = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "robot_policy_revisions"
        ordering = ["since", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["policy_id", "revision"], name="one_row_per_policy_and_revision")
        ]

    def __str__(self) -> str:
        return f"{self.policy_id} {self.revision[:12]}"
