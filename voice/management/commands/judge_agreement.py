"""`manage.py judge_agreement`: how often the judge by a language model prefers the agent that visitors prefer."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from arena.models import Purpose, Side, Vote, VoteChoice
from voice.evaluation.agreement import LEFT, NEITHER, RIGHT, agreement, preferred
from voice.models import VOICE, Conversation

PEOPLE = {VoteChoice.LEFT_BETTER: LEFT, VoteChoice.RIGHT_BETTER: RIGHT}


class Command(BaseCommand):
    help = (
        "Compare the judge's verdicts with the votes of visitors, over the ranked battles of which both calls were "
        "judged. A tie and 'both bad' are neither side."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        found = agreement(pairs())
        if options["json"]:
            self.stdout.write(json.dumps(found._asdict() if found else {"battles": 0}))
        elif found is None:
            self.stdout.write("No voted battle has two verdicts: ARENA_VOICE_JUDGE_URL names the judge.")
        else:
            kappa = "-" if found.kappa is None else f"{found.kappa:.2f}"
            self.stdout.write(
                f"The judge and the visitors agree in {found.share:.0%} of {found.battles} battles "
                f"({found.low:.0%} to {found.high:.0%}); Cohen's kappa {kappa}."
            )


def pairs() -> list[tuple[str, str]]:
    """Of each such battle: what its visitor and what the judge preferred."""
    votes = Vote.objects.filter(kind=VOICE, purpose=Purpose.RANK, battle__spoiled=False)
    choices = {str(battle_id): choice for battle_id, choice in votes.values_list("battle_id", "vote")}
    verdicts: dict[str, dict[str, Any]] = {}
    judged = Conversation.objects.filter(call__battle_id__in=choices).exclude(judge=None)
    for battle_id, side, verdict in judged.values_list("call__battle_id", "call__side", "judge"):
        verdicts.setdefault(str(battle_id), {})[side] = verdict
    return [
        (PEOPLE.get(VoteChoice(choices[battle_id]), NEITHER), preferred(sides[Side.LEFT], sides[Side.RIGHT]))
        for battle_id, sides in sorted(verdicts.items())
        if len(sides) == len(Side)
    ]
