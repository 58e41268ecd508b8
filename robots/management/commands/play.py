"""`manage.py play "INSTRUCTION" --left ID --right ID`: one turn without the web."""

from __future__ import annotations

import json
import re
import secrets
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Let two policies follow one instruction from the same start. Stored when the episode store is running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("instruction")
        parser.add_argument("--left", required=True, help="policy id, or the path of a policy folder")
        parser.add_argument("--right", required=True)
        parser.add_argument("--robot", default=settings.DEFAULT_ROBOT)
        parser.add_argument("--scene", default=settings.DEFAULT_SCENE)
        parser.add_argument("--seed", type=int, default=0, help="lays out the scene")
        parser.add_argument("--secret", help="varies what both see, as a battle's does; hexadecimal (default: random)")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        from policies.base import PolicyError
        from robots import published_tasks
        from robots.exhibition import ExhibitionTurn, play_turn
        from robots.limits import limits_of
        from robots.policy_lookup import find_policy
        from simulation import catalogue
        from simulation.contracts import SimulationError

        if not options["instruction"].strip():
            raise CommandError("the instruction is empty")
        published_tasks.refresh_if_possible()
        secret = _secret(options["secret"])
        place = options["robot"], options["scene"]
        try:
            limits = limits_of(options["instruction"], options["scene"], catalogue.robot(options["robot"]).control_hz)
            turn = ExhibitionTurn(options["instruction"], *place, options["seed"], limits, secret)
            sides = {side: find_policy(options[side]) for side in ("left", "right")}
            answer = play_turn(turn, sides)
        except (PolicyError, SimulationError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer))
        else:
            self._print(answer)
        failed = [side for side, row in answer.items() if "error" in row]
        if failed:
            raise CommandError(f"no rollout on the {' and the '.join(failed)}")

    def _print(self, answer: dict[str, dict[str, Any]]) -> None:
        for side, row in answer.items():
            if "error" in row:
                self.stdout.write(f"{side:5} {row['model_id']}: failed, {row['error']}")
                continue
            kept = f"stored as {row['episode_id']}" if row["stored"] else "not stored: no episode store answers"
            self.stdout.write(
                f"{side:5} {row['model_id']}: {row['termination_reason']} after {row['steps']} steps, "
                f"{_verdict(row['progress'])}, {row['duration_ms']:.0f} ms; {kept}"
            )


def _verdict(progress: float | None) -> str:
    return "no goal to judge" if progress is None else f"progress {progress:.2f}"


def _secret(given: str | None) -> str:
    """The given one, or a random one. "" leaves the scene as it is."""
    if given is None:
        return secrets.token_hex(16)
    if not re.fullmatch(r"(?:[0-9a-f]{32})?", given):
        raise CommandError("a secret is 32 hexadecimal digits in lower case, or empty")
    return given
