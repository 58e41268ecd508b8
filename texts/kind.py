"""Text as a kind of arena: language models that answer prompts. Only workers import what plays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from arena.kinds import CalibrationBattle, Json, Kind, Look, Place
from arena.models import Attempt, Battle, Contestant, ContestantQuerySet
from arena.queue.hosting import Hosts
from texts import calibration, chunks, looks, moderation, spending
from texts.about import CATEGORIES as TOPICS
from texts.about import LANGUAGES
from texts.models import TEXT, LanguageModel
from texts.prompts import clean_prompt
from texts.starters import CATEGORIES, STARTERS


class Texts(Kind):
    id = TEXT
    title = gettext_lazy("Text")
    reasons: ClassVar[Mapping[str, Any]] = {
        "correct": gettext_lazy("More correct"),
        "helpful": gettext_lazy("More helpful"),
        "clear": gettext_lazy("Clearer"),
        "style": gettext_lazy("Better style"),
    }
    measures: ClassVar[Mapping[str, Any]] = {
        "tokens": gettext_lazy("Twice as long"),
        "headings": gettext_lazy("Twice as many headings"),
        "list_items": gettext_lazy("Twice as many list items"),
        "bold": gettext_lazy("Twice as much in bold"),
    }
    groups: ClassVar[Mapping[str, Any]] = {
        "category": gettext_lazy("Category"),
        "language": gettext_lazy("Language of the prompt"),
    }
    details = ("answer",)
    claimed_with = ("model__languagemodel",)
    introduced_with = {"languagemodel": ("temperature", "served_name")}
    waits = True
    counted_as = "prompts"
    template = "texts/battle.html"
    address = "text"

    @property
    def offered(self) -> bool:
        return self.id in settings.KINDS

    def places(self) -> Mapping[str, Sequence[str]]:
        return {"chat": ("open",)}

    def titles(self) -> Mapping[str, str]:
        return {"chat": str(gettext_lazy("Conversation")), "open": str(gettext_lazy("Any prompt"))}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        """Active ones: a model whose server does not answer is none (`texts.health`)."""
        return self.contestants().contestants()

    def contestants(self) -> ContestantQuerySet[Any]:
        return LanguageModel.objects.defer("description", "system_prompt")

    def contestant_address(self, model_id: str) -> str | None:
        return f"/text/models/{model_id}"

    def introduce(self, contestant: Contestant) -> Json:
        model = getattr(contestant, "languagemodel", None)
        return {"temperature": model.temperature, "served_name": model.served_name} if model else {}

    def hosted(self) -> Iterable[LanguageModel]:
        return LanguageModel.objects.all()

    @property
    def longest_instruction(self) -> int:
        return int(settings.TEXT["prompt_characters"])

    @property
    def most_turns(self) -> int:
        return int(settings.TEXT["turns"])

    def clean_instruction(self, said: Any) -> str:
        """Also raises PromptRefused and ModerationUnavailable."""
        prompt = clean_prompt(said, self.longest_instruction)
        moderation.check_prompt(prompt)
        return prompt

    def calibration(self, battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
        return calibration.maybe_repeat(battle, instruction, hosts)

    def looks(self) -> Iterable[Look]:
        return looks.of_votes(tuple(self.measures))

    def title_of(self, dimension: str, group: str) -> str:
        names: Mapping[str, Any] = TOPICS if dimension == "category" else LANGUAGES
        return str(names.get(group, group))

    def load_for_parts(self) -> None:
        """The workers that answer, and those that ask whether servers are there."""
        from texts import client  # noqa: F401 - openai

    def prepare(self) -> None:
        """Otherwise the first answers would wait for this, all at once."""
        from texts import about, play  # noqa: F401 - the client

        about.language_of("What is this?")

    def play(self, episode_id: str) -> None:
        from texts.play import play

        play(episode_id)

    @property
    def chunk_s(self) -> float:
        return chunks.SECONDS / float(settings.RELEASE["speed"])

    @property
    def longest(self) -> int:
        return chunks.count(settings.TEXT["answer_characters"])

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        return b""

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """Pieces of both answers, "" where a side has none."""
        sides = [[piece.decode() for piece in side] for side in (left, right)]
        return {"from_chunk": first, "left": sides[0], "right": sides[1]}

    def outcome(self, attempt: Attempt) -> Json:
        answer = getattr(attempt, "answer", None)
        if answer is None:
            return super().outcome(attempt)
        counts = {name: getattr(answer, name) for name in ("prompt_tokens", "answer_tokens", "first_token_ms", "cost")}
        return {**super().outcome(attempt), **counts, "finish_reason": answer.finish_reason, "cached": answer.cached}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        """The words are all there is to see, and so they are told before the vote, too."""
        told = {"episode_id": attempt.episode_id, "side": attempt.side, "turn_id": attempt.turn_id}
        return {
            **told,
            "text": document["text"],
            "liked": getattr(getattr(attempt, "answer", None), "liked", False),
            "exact": exact,
            "outcome": self.outcome(attempt) if exact else None,
        }

    def spent(self, attempts: QuerySet[Attempt]) -> Mapping[str, dict[str, float | None]]:
        return spending.spent(attempts)

    def page_context(self, place: Place) -> Json:
        return {"suggestions": STARTERS, "categories": CATEGORIES}
