"""Voice as a kind of arena: voice agents that are called, one after the other, about one task.

Calls come first and the turn after them: while somebody talks, nothing of the queue of turns waits. The turn is then
played at once, from what was said (`voice.battles.playing`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.utils.translation import gettext_lazy

from arena.kinds import Json, Kind, Place
from arena.models import Attempt, Battle, Contestant, ContestantQuerySet
from arena.shapes import JudgeAgreement
from voice.battles import agreeing, card, lines, results, scenarios, sockets
from voice.battles.errors import CallsMissing
from voice.models import VOICE, Call, VoiceAgent
from voice.offered import is_offered


class Voice(Kind):
    id = VOICE
    title = gettext_lazy("Voice")
    names = Place("category_id", "scenario_id")
    reasons: ClassVar[Mapping[str, Any]] = {
        "understood": gettext_lazy("Understood me better"),
        "solved": gettext_lazy("Got the task done"),
        "natural": gettext_lazy("More natural to talk to"),
        "quick": gettext_lazy("Answered more quickly"),
    }
    divided_by = "architecture"
    divisions: ClassVar[Mapping[str, Any]] = card.ARCHITECTURES
    divisions_title = gettext_lazy("Architectures")
    details = ("conversation",)
    claimed_with = ("model__voiceagent",)
    introduced_with = {"voiceagent": ("provider", "architecture_type", "components")}
    played_here = True
    features = ("microphone",)
    chooser: ClassVar[Mapping[str, Any]] = {
        "change": gettext_lazy("Change task"),
        "settings": gettext_lazy("Categories"),
        "scenes": gettext_lazy("Tasks"),
    }
    template = "voice/battle.html"
    address = "voice"
    most_turns = 1
    longest = lines.MOST

    @property
    def offered(self) -> bool:
        return is_offered()

    def places(self) -> Mapping[str, Sequence[str]]:
        return scenarios.by_category()

    def titles(self) -> Mapping[str, str]:
        names = {pk: name for pk, (_, name) in scenarios.known().items()}
        return {**{name: str(title) for name, title in card.CATEGORIES.items()}, **names}

    def tasks(self) -> Mapping[str, str]:
        return {pk: name for pk, (_, name) in scenarios.known().items()}

    def task_of(self, instruction: str, scene: str) -> str:
        """The scenario, whatever the battle is called."""
        return scene

    def is_own_words(self, instruction: str, scene: str) -> bool:
        """Both transcripts are in the visitor's words."""
        return True

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        return self.contestants().contestants()

    def contestants(self) -> ContestantQuerySet[Any]:
        return VoiceAgent.objects.all()

    def facts(self, contestant: Contestant) -> Json:
        return {"architecture": getattr(contestant, "architecture_type", "")}

    def judge(self) -> JudgeAgreement:
        return agreeing.judge_agreement()

    def introduce(self, contestant: Contestant) -> Json:
        agent = getattr(contestant, "voiceagent", None)
        if agent is None:
            return {}
        made_of = {name: str(agent.components.get(name, "")) for name in ("stt", "llm", "tts")}
        return {"provider": agent.provider, "architecture": agent.architecture_type, **made_of}

    def check_instruction(self, battle: Battle, instruction: str, starts: int) -> None:
        """The turn is made of both calls, so both have to have ended."""
        calls = Call.objects.filter(battle=battle)
        if sum(call.settled for call in calls) < len(("left", "right")):
            raise CallsMissing

    @property
    def chunk_s(self) -> float:
        return lines.SECONDS / float(settings.RELEASE["speed"])

    def play(self, episode_id: str) -> None:
        from voice.battles.playing import play

        play(episode_id)

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        return b""

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """Lines of both transcripts, each a JSON of its own, "" where a side has none."""
        sides = [[line.decode() for line in side] for side in (left, right)]
        return {"from_chunk": first, "left": sides[0], "right": sides[1]}

    def outcome(self, attempt: Attempt) -> Json:
        conversation = getattr(attempt, "conversation", None)
        return {**super().outcome(attempt), **(results.summary(conversation) if conversation else {})}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        """What was said was heard by the visitor, and so it is told before the vote, too. Recordings come with it."""
        return {
            "episode_id": attempt.episode_id,
            "side": attempt.side,
            "turn_id": attempt.turn_id,
            "lines": lines.read(document["text"]),
            "audio": results.audio_of(attempt) if exact else None,
            "exact": exact,
            "outcome": self.outcome(attempt) if exact else None,
        }

    def sources(self, host: str) -> Mapping[str, list[str]]:
        return {"connect-src": [sockets.origin(host)], "media-src": ["'self'"]}

    def forget(self, episode_ids: Collection[str]) -> None:
        from voice.calls.keeping import forget

        forget(episode_ids)

    def expire(self, since: datetime | None) -> None:
        from voice.calls.keeping import expire

        expire(since)

    def page_context(self, place: Place) -> Json:
        return {"card": card.of(place.scene)}
