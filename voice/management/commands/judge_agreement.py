"""`manage.py judge_agreement`: how often the judge by a language model prefers the agent that visitors prefer."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from arena.shapes import JudgeAgreement
from voice.battles.agreeing import judge_agreement


class Command(BaseCommand):
    help = (
        "Compare the judge's verdicts with the votes of visitors, over the ranked battles of which both calls were "
        "judged. A tie and 'both bad' are neither side."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        found = judge_agreement()
        self.stdout.write(json.dumps(found) if options["json"] else told(found))


def told(found: JudgeAgreement) -> str:
    if not found["battles"]:
        return "No voted battle has two verdicts: ARENA_VOICE_JUDGE_URL names the judge."
    kappa = "-" if found["kappa"] is None else f"{found['kappa']:.2f}"
    return (
        f"The judge and the visitors agree in {found['share']:.0%} of {found['battles']} battles "
        f"({found['low']:.0%} to {found['high']:.0%}); Cohen's kappa {kappa}."
    )
