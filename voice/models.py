"""The tables that voice adds to those of the core: scenarios, agents, and the conversations held with them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from arena.models import Attempt, Battle, Contestant, Side
from simulation.catalogue_rows import CatalogueError
from voice.agents.base import ENDS
from voice.agents.kinds import PROVIDERS, check_config
from voice.scenarios.model import CATEGORIES, DIFFICULTIES, DURATION_S, TURNS, Scenario
from voice.scenarios.reading import scenario_from

VOICE = "voice"
"""The kind of voice agents."""


class ScenarioRow(models.Model):
    """A scenario as the arena has it: entered from the files by `seed_voice`, then edited here."""

    COLUMNS = {
        "id": "id",
        "name": "name",
        "category": "category",
        "difficulty": "difficulty",
        "description": "description_for_user",
        "you_know": "you_know",
        "greeting": "greeting",
        "system_prompt": "system_prompt",
        "required_slots": "required_slots",
        "success_criteria": "success_criteria",
        "tools": "tools_available",
        "twists": "adversarial_turns",
        "caller": "caller",
        "max_turns": "max_turns",
        "max_duration_seconds": "max_duration_seconds",
    }
    """Field of the file -> column."""

    id = models.CharField(primary_key=True, max_length=50)
    name = models.CharField(max_length=100)
    category = models.CharField(max_length=20, choices=[(each, each) for each in CATEGORIES])
    difficulty = models.CharField(max_length=10, choices=[(each, each) for each in DIFFICULTIES])
    description_for_user = models.TextField(help_text="What the caller wants.")
    you_know = models.JSONField(help_text="What the caller knows: its name -> the value.")
    greeting = models.CharField(max_length=200, help_text="The first words of every agent.")
    system_prompt = models.TextField(help_text="What every agent is told.")
    required_slots = models.JSONField(help_text="Parameter -> its canonical value, or {value, accept}.")
    success_criteria = models.JSONField(help_text="A list of {id, calls: TOOL} or {id, says: [PHRASE]}.")
    tools_available = models.JSONField(help_text="See docs/voice.md.")
    adversarial_turns = models.JSONField(default=list, blank=True, help_text="A list of {after, say, interrupts}.")
    caller = models.JSONField(help_text="The scripted caller: {opening, answers, closing}.")
    max_turns = models.PositiveSmallIntegerField(default=TURNS)
    max_duration_seconds = models.PositiveSmallIntegerField(default=DURATION_S)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "voice_scenarios"
        ordering = ["id"]
        verbose_name = "scenario"

    def __str__(self) -> str:
        return self.name

    @property
    def fields(self) -> dict[str, Any]:
        """The row as a file has it."""
        return {field: getattr(self, column) for field, column in self.COLUMNS.items()}

    def read(self) -> Scenario:
        """Raises CatalogueError for a row that is no scenario."""
        return scenario_from(self.fields)

    def clean(self) -> None:
        try:
            self.read()
        except CatalogueError as error:
            raise ValidationError(str(error)) from None


class VoiceAgent(Contestant):
    """A contestant: a provider's agent and how it is set up. Ratings, votes and win rates are those of every kind."""

    class Architecture(models.TextChoices):
        CASCADE = "cascade", "cascade"
        HALF_CASCADE = "half_cascade", "half cascade"
        S2S = "s2s", "speech to speech"
        ORCHESTRATOR = "orchestrator", "orchestrator"
        HYBRID = "hybrid", "hybrid"

    architecture_type = models.CharField(max_length=20, choices=Architecture, default=Architecture.CASCADE)
    provider = models.CharField(max_length=20, choices=[(each, each) for each in PROVIDERS])
    components = models.JSONField(default=dict, help_text='What it is made of: {"stt", "llm", "tts"}.')
    config = models.JSONField(default=dict, blank=True, help_text="How it is set up; see docs/voice.md.")

    class Meta:
        db_table = "voice_agents"
        verbose_name = "voice agent"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind = VOICE
        super().save(*args, **kwargs)

    def clean(self) -> None:
        try:
            check_config(self.provider, self.config)
        except ValueError as error:
            raise ValidationError({"config": str(error)}) from None


class Call(models.Model):
    """The slot of one side of a battle: it is called before the battle's turn is sent, which is made of both calls.

    The left side is called first. Which contestant is left was drawn at random with the pair.
    """

    class Status(models.TextChoices):
        OPEN = "open", "may be called"
        TALKING = "talking", "is being called"
        ENDED = "ended", "was called"
        FAILED = "failed", "could not be called"

    battle = models.ForeignKey(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.CASCADE, related_name="voice_calls"
    )
    side = models.CharField(max_length=5, choices=Side)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    tries = models.PositiveSmallIntegerField(default=1, help_text="A call that failed may be made once more.")
    may_publish = models.BooleanField(default=False, help_text="The caller lets others hear the recordings.")
    consented_at = models.DateTimeField(default=timezone.now, help_text="The caller agreed to being recorded.")
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    story = models.CharField(max_length=500, blank=True, help_text="Why it failed; may name the agent.")

    class Meta:
        db_table = "voice_calls"
        constraints = [models.UniqueConstraint(fields=["battle", "side"], name="one_call_per_side")]

    def __str__(self) -> str:
        return f"{self.battle_id} {self.side}"

    @property
    def settled(self) -> bool:
        return self.status in (self.Status.ENDED, self.Status.FAILED)

    @property
    def label(self) -> str:
        """As the visitor knows the side."""
        return "a" if self.side == Side.LEFT else "b"


class Conversation(models.Model):
    """A conversation with one agent. `call` and `attempt` are its side of a battle; a call without a visitor has none,
    and never counts. `attempt` comes with the battle's turn.

    Times are milliseconds on the clock of the two recordings, which begin together. What is computed of it is empty
    until it was evaluated.
    """

    class Caller(models.TextChoices):
        VISITOR = "visitor", "a visitor"
        SCRIPT = "script", "the scenario's script"
        MODEL = "model", "a language model"

    class Evaluation(models.TextChoices):
        NONE = "none", "not asked for"
        COMPUTING = "computing", "computing"
        PARTIAL = "partial", "partial"
        COMPLETE = "complete", "complete"
        FAILED = "failed", "failed"

    attempt = models.OneToOneField(
        Attempt, to_field="episode_id", db_column="episode_id", null=True, blank=True, on_delete=models.CASCADE,
        related_name="conversation",
    )  # fmt: skip
    call = models.OneToOneField(Call, null=True, blank=True, on_delete=models.CASCADE, related_name="conversation")
    agent = models.ForeignKey(VoiceAgent, on_delete=models.PROTECT, related_name="conversations")
    scenario = models.ForeignKey(ScenarioRow, on_delete=models.PROTECT, related_name="conversations")
    agent_label = models.CharField(max_length=1, blank=True, help_text="As the visitor knew it: a or b.")
    caller = models.CharField(max_length=10, choices=Caller)
    turns = models.JSONField(help_text="{role, text, heard, start_ms, end_ms, latency_ms, cut}, in order.")
    tools = models.JSONField(default=list, help_text="{tool, arguments, done, at_ms}, in order.")
    total_turns = models.PositiveIntegerField(help_text="How often the caller spoke.")
    duration_seconds = models.FloatField()
    ended = models.CharField(max_length=20, choices=list(ENDS.items()))
    user_audio_path = models.CharField(max_length=500, blank=True, help_text="WAV file in the folder of recordings.")
    agent_audio_path = models.CharField(max_length=500, blank=True)
    avg_response_latency_ms = models.FloatField(null=True)
    p50_latency_ms = models.FloatField(null=True)
    p95_latency_ms = models.FloatField(null=True)
    ttfb_avg_ms = models.FloatField(null=True, help_text="From the end of speech to the first audio.")
    task_success = models.BooleanField(null=True, help_text="All criteria are met and all slots right.")
    joint_goal_accuracy = models.FloatField(null=True, help_text="1: every required slot is right.")
    slots = models.JSONField(default=dict, help_text="Of each required slot: {expected, found, source, right}.")
    criteria = models.JSONField(default=dict, help_text="Of each success criterion: whether it is met.")
    containment = models.BooleanField(null=True)
    turns_to_completion = models.PositiveIntegerField(null=True)
    first_audio_ms = models.JSONField(default=list, help_text="When audio of the agent came and nothing was played.")
    judge = models.JSONField(null=True, blank=True, help_text="The verdict of a language model; null with a reason.")
    judge_missing = models.CharField(max_length=200, blank=True)
    evaluation = models.CharField(max_length=10, choices=Evaluation, default=Evaluation.NONE)
    evaluation_error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "voice_conversations"
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.scenario_id} with {self.agent_id}"

    @property
    def transcript_full(self) -> str:
        """The words of both sides, a line each."""
        return "\n".join(f"{turn['role']}: {turn['text']}" for turn in self.turns)
