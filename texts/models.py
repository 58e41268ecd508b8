"""The tables that text adds to those of the core: language models behind servers, and what is kept of their answers."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models

from arena.models import Attempt, Contestant, Side, Turn
from texts.addresses import EMBEDDED, AddressRefused, check_address

TEXT = "text"
"""The kind of language models."""
# Whoever edits a row chooses the variable and the server that gets its value: it must be able to name no other secret.
KEY_VARIABLE = RegexValidator(
    r"\A[A-Z][A-Z0-9_]*_API_KEY\Z", "The name of an environment variable that ends in _API_KEY, such as VLLM_API_KEY."
)


class LanguageModel(Contestant):
    """A contestant: a model of an OpenAI-compatible server, how it decodes, and what it is told first."""

    base_url = models.CharField(
        max_length=500,
        help_text=f"Address of its API, such as http://gpu-1:8000/v1; {EMBEDDED!r}: the server beside the arena.",
    )
    key_variable = models.CharField(
        max_length=100, blank=True, validators=[KEY_VARIABLE], help_text="Environment variable that holds the key."
    )
    served_name = models.CharField(max_length=255, help_text="The model's name on its server.")
    system_prompt = models.TextField(blank=True)
    temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(2.0)],
        help_text="Empty: the server's.",
    )
    top_p = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="Empty: the server's.",
    )
    extra_body = models.JSONField(
        default=dict, blank=True, help_text="Further fields of the request, such as repeat_penalty."
    )
    max_tokens = models.PositiveIntegerField(default=1024, validators=[MinValueValidator(1)])
    prompt_price = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0)], help_text="US dollars for a million tokens read."
    )
    answer_price = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0)], help_text="US dollars for a million tokens written."
    )

    class Meta:
        db_table = "text_models"
        verbose_name = "language model"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind = TEXT
        super().save(*args, **kwargs)

    def clean(self) -> None:
        try:
            check_address(self.base_url)
        except AddressRefused as refused:
            raise ValidationError({"base_url": str(refused)}) from None
        if not isinstance(self.extra_body, dict):
            raise ValidationError({"extra_body": 'A JSON object, such as {"repeat_penalty": 1.15}.'})

    def cost_of(self, prompt_tokens: int | None, answer_tokens: int) -> float | None:
        """Of one answer [US dollars]. None where a price or a count is unknown."""
        if self.prompt_price is None or self.answer_price is None or prompt_tokens is None:
            return None
        return (prompt_tokens * self.prompt_price + answer_tokens * self.answer_price) / 1e6


class Answer(models.Model):
    """What a completed attempt of a language model took. Its text is in the store."""

    attempt = models.OneToOneField(
        Attempt, to_field="episode_id", db_column="episode_id", primary_key=True, on_delete=models.CASCADE
    )
    finish_reason = models.CharField(max_length=50, help_text="As the server says.")
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: the server does not say.")
    answer_tokens = models.PositiveIntegerField()
    tokens_counted = models.BooleanField(
        help_text="By the server; otherwise the parts of the stream were counted here."
    )
    first_token_ms = models.FloatField(help_text="From the request to the first words.")
    cost = models.FloatField(null=True, blank=True, help_text="US dollars; empty: unknown.")
    names_itself = models.BooleanField(
        default=False, help_text="It names its model or maker: the battle is spoiled, and its vote does not count."
    )
    tokens = models.PositiveIntegerField(
        null=True, help_text="Words, numbers and signs, counted alike for every model; empty: an old answer."
    )
    headings = models.PositiveIntegerField(default=0)
    list_items = models.PositiveIntegerField(default=0)
    bold = models.PositiveIntegerField(default=0)
    cached = models.BooleanField(default=False, help_text="Given before, to the same prompt (texts.cache).")
    liked = models.BooleanField(default=False, help_text="By its visitor. Counts in no ranking.")

    class Meta:
        db_table = "text_answers"

    def __str__(self) -> str:
        return str(self.attempt_id)


class Prompt(models.Model):
    """What the prompt of a turn is about. Stays when its words are removed: it names nobody."""

    turn = models.OneToOneField(
        Turn, to_field="turn_id", db_column="turn_id", primary_key=True, on_delete=models.CASCADE, related_name="prompt"
    )
    category = models.CharField(max_length=20)
    language = models.CharField(max_length=5, blank=True, help_text="ISO 639-1; empty: the words do not tell.")

    class Meta:
        db_table = "text_prompts"

    def __str__(self) -> str:
        return str(self.turn_id)


class Again(models.Model):
    """A turn in which the one before is answered again."""

    turn = models.OneToOneField(
        Turn, to_field="turn_id", db_column="turn_id", primary_key=True, on_delete=models.CASCADE, related_name="again"
    )
    replaces = models.ForeignKey(
        Turn, to_field="turn_id", db_column="replaces_id", on_delete=models.CASCADE, related_name="+"
    )
    kept = models.CharField(
        max_length=5, choices=Side.choices, blank=True, help_text="The side whose answer stays; empty: none."
    )

    class Meta:
        db_table = "text_again"

    def __str__(self) -> str:
        return str(self.turn_id)
