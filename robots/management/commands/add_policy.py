"""`manage.py add_policy ID --weights PATH` or `--url ws://...|http://.../act`: register a policy, or change its row."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from policies.base import PolicyError, WrongEmbodiment
from policies.registry import REMOTE, describe, families
from simulation import catalogue, optional_rows
from simulation.contracts import LIBERO_ACTIONS

COLUMNS = {
    "name": "name for people",
    "description": "what it is, in a sentence",
    "organization": "who made it",
    "license": "licence of the weights",
    "provenance": "who trained it, on what",
    "training_data": "what it learned from",
    "source": "where to find the weights and the paper",
}


class Command(BaseCommand):
    help = (
        "Open a policy folder whole (a published checkpoint or one of our own) and let it infer once, or connect to a "
        "server of openpi's protocol or OpenVLA's and let it play a dry episode; then enter it into the registry. "
        "Workers that host it can play it within seconds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("policy", help="a new id, or that of a registered policy, such as openvla-7b")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--weights", type=Path, help="the folder")
        where.add_argument("--url", help="the server, such as ws://127.0.0.1:8000 or http://127.0.0.1:8000/act")
        parser.add_argument("--contract", type=Path, help="a JSON file with what the server does not declare of itself")
        parser.add_argument("--key-variable", help="environment variable with the server's key; it ends in _API_KEY")
        parser.add_argument("--family", choices=sorted(families), help="refuse a folder of another family")
        parser.add_argument(
            "--statistics-key", default="", help="the data set in whose units it acts; OpenVLA's unnorm_key"
        )
        parser.add_argument(
            "--centre-crop", type=float, help="area of pictures that OpenVLA sees (default: 0.9 of LIBERO's, else all)"
        )
        parser.add_argument("--device", help="where to open it for the check: cpu (default), cuda, ...")
        for name, meaning in COLUMNS.items():
            parser.add_argument(
                f"--{name.replace('_', '-')}", default="", help=f"{meaning} (default: as in the folder)"
            )
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            validate_slug(options["policy"])
        except ValidationError:
            raise CommandError(f"{options['policy']!r}: an id is letters, digits, hyphens and underscores") from None
        try:
            if options["url"]:
                self._add_remote(options)
            else:
                self._add_folder(options)
        except WrongEmbodiment as error:
            told = LIBERO_ACTIONS in str(error) and not optional_rows.is_installed()
            hint = f"; the Panda of LIBERO is not installed; run: {optional_rows.REMEDY}" if told else ""
            raise CommandError(f"{error}{hint}") from error
        except PolicyError as error:
            raise CommandError(str(error)) from error

    def _add_remote(self, options: dict[str, Any]) -> None:
        from robots.remote_policies import add_remote  # loads physics

        for name in ("family", "device", "centre_crop"):
            if options[name]:
                raise CommandError(f"--{name.replace('_', '-')} is about folders; a contract tells it of a server")
        given = {name: options[name] or None for name in ("key_variable", "statistics_key")}
        contract = _read_contract(options["contract"]) | {name: text for name, text in given.items() if text}
        columns = {name: options[name] for name in COLUMNS}
        self._tell_remote(add_remote(options["policy"], options["url"], contract, columns), options)

    def _tell_remote(self, entered: Any, options: dict[str, Any]) -> None:
        row, took = entered.added.policy, f"{entered.median_ms:.1f} ms an inference ({entered.longest_ms:.1f} at most)"
        if options["json"]:
            told = {"status": row.status, "family": row.family, "warnings": entered.added.warnings}
            times = {"infer_ms": round(entered.median_ms, 2), "longest_infer_ms": round(entered.longest_ms, 2)}
            self.stdout.write(json.dumps({"model_id": row.id, "created": entered.added.created, **told, **times}))
            return
        for warning in entered.added.warnings:
            self.stderr.write(warning)
        self.stdout.write(f"{row.id}: {'entered' if entered.added.created else 'updated'}, {took}, {row.status}")

    def _add_folder(self, options: dict[str, Any]) -> None:
        from policies.adding import Registration, add_policy  # loads torch, which other commands must not

        if options["contract"] or options["key_variable"]:
            raise CommandError("--contract and --key-variable are about servers; give --url")
        card = describe(options["weights"], options["statistics_key"] or None)
        if card.spec.family == REMOTE:
            from robots.remote_policies import add_card

            self._tell_remote(add_card(options["policy"], card, {name: options[name] for name in COLUMNS}), options)
            return
        asked = Registration(
            model_id=options["policy"],
            folder=options["weights"],
            family=options["family"] or "",
            statistics_key=options["statistics_key"],
            device=options["device"],
            centre_crop=options["centre_crop"],
            columns={name: options[name] for name in COLUMNS},
        )
        added = add_policy(asked, catalogue.embodiments())
        row = added.policy
        if options["json"]:
            told = {name: getattr(row, name) for name in ("status", "family", "parameters", "statistics_key")}
            answer = {"model_id": row.id, "created": added.created, **told, "warnings": added.warnings}
            self.stdout.write(json.dumps(answer))
            return
        for warning in added.warnings:
            self.stderr.write(warning)
        size = f"{row.parameters:,} parameters"
        self.stdout.write(f"{row.id}: {'entered' if added.created else 'updated'}, {row.family}, {size}, {row.status}")


def _read_contract(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{file}: expected a JSON object: {error}") from None
    if not isinstance(found, dict):
        raise CommandError(f"{file}: expected a JSON object, got {type(found).__name__}")
    return found
