"""What a visitor said to voice agents, and they to the visitor."""

from __future__ import annotations

from collections.abc import Iterator

from people.own_data import Owner, Part, Row
from voice.battles import lines
from voice.calls.keeping import delete_recordings
from voice.models import Conversation


def export_calls(owner: Owner) -> Iterator[Row]:
    """The words were on the visitor's screen, also before the vote. They come without a name."""
    if not owner.visitor:
        return
    own = Conversation.objects.filter(call__battle__session__user_id=owner.visitor).select_related("call")
    for held in own.order_by("pk").iterator():
        yield {
            "battle_id": held.call.battle_id if held.call else "",
            "agent": held.agent_label,
            "scenario": held.scenario_id,
            "lines": lines.of_turns(held.turns),
            "others_may_hear": bool(held.call and held.call.may_publish),
            "recorded": bool(held.user_audio_path),
            "created_at": held.created_at,
        }


def forget_calls(owner: Owner, pseudonym: str) -> None:
    """Recordings and words are deleted. What was computed of them stays with the vote, under the pseudonym."""
    for held in Conversation.objects.filter(call__battle__session__user_id__in=_names(owner, pseudonym)):
        delete_recordings(held)


def _names(owner: Owner, pseudonym: str) -> list[str]:
    """The sessions may have the pseudonym already."""
    return [name for name in (owner.visitor, pseudonym) if name]


PARTS = (Part("calls", export_calls, forget_calls),)
