"""`manage.py verify`: play stored episodes again and compare every state bit for bit."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.store import StoreUnavailable, get_store


class Command(BaseCommand):
    help = "Re-run recorded actions from the recorded start and compare every state bit for bit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("episode_ids", nargs="*", metavar="EPISODE_ID")
        parser.add_argument("--all", action="store_true", help="every stored episode")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["episode_ids"]) == options["all"]:
            raise CommandError("give episode ids, or --all")
        try:
            checked, different = self._check(get_store().ids() if options["all"] else options["episode_ids"])
        except StoreUnavailable as error:
            raise CommandError(f"the episode store does not answer: {error}") from error
        if options["json"]:
            report = {"checked": checked, "identical": checked - len(different), "different": different}
            self.stdout.write(json.dumps(report))
        else:
            self.stdout.write(f"{checked - len(different)} of {checked} episodes identical")
        if different:
            raise SystemExit(1)

    def _check(self, episode_ids: Iterable[str]) -> tuple[int, list[dict[str, Any]]]:
        from robots import published_tasks
        from simulation.verification import verify_document

        published_tasks.refresh_if_possible()
        store, checked, different = get_store(), 0, []
        for episode_id in episode_ids:
            document = store.get(episode_id)
            if document is None:
                raise CommandError(f"no episode {episode_id} is stored")
            found = verify_document(document)
            checked += 1
            if found is not None:
                different.append({"episode_id": episode_id, "first_step": found.first_step, "reason": found.reason})
                self.stderr.write(f"{episode_id}: step {found.first_step}: {found.reason}")
        return checked, different
