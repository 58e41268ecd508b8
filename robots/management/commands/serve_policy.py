"""`manage.py serve_policy ID_OR_FOLDER --port N`: offer a policy of this machine to others in openpi's protocol."""

from __future__ import annotations

import json
import os
import signal
import threading
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from policies.base import BadCard, PolicyCard, PolicyError
from policies.registry import REMOTE, families

MEMORY_SHARE = 0.9


class Command(BaseCommand):
    help = (
        "Serve a policy over a websocket to openpi's clients, to RoboArena's and to other arenas, until it is stopped. "
        "The first message to a client tells the contract: cameras, actions, chunk, rate."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("policy", help="a registered policy, or the folder of one")
        parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: 8000)")
        parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 serves other machines, too")
        parser.add_argument("--device", default="cpu", help="where to open it: cpu (default), cuda, ...")
        parser.add_argument("--clients", type=int, default=4, help="connections at once (default: 4)")
        parser.add_argument("--key-variable", default="", help="environment variable with the key that clients need")
        parser.add_argument("--json", action="store_true", help="tell the address as one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        key = os.environ.get(options["key_variable"], "") if options["key_variable"] else ""
        if options["key_variable"] and not key:
            raise CommandError(f"{options['key_variable']} is not set")
        if options["clients"] < 1:
            raise CommandError("--clients: expected a number from 1")
        try:
            self._serve(options, key)
        except PolicyError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['host']}:{options['port']} cannot be served at: {error}") from error

    def _serve(self, options: dict[str, Any], key: str) -> None:
        from policies.remote import server

        card, lease = _opened(options["policy"], options["device"], options["clients"])
        lease().close()  # what is broken is told before anybody connects
        running = server.start(server.Offer(card, lease, options["clients"], key), options["host"], options["port"])
        ended = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        host, port = running.socket.getsockname()[:2]
        url = f"ws://{f'[{host}]' if ':' in host else host}:{port}"
        told = json.dumps({"policy": card.spec.id, "url": url}) if options["json"] else f"{card.spec.id} is at {url}"
        self.stdout.write(told)
        self.stdout.flush()
        serving = threading.Thread(target=running.serve_forever)
        serving.start()
        ended.wait()
        running.shutdown()
        serving.join()


def _opened(name: str, device: str, clients: int) -> tuple[PolicyCard, Any]:
    """The card, and what opens the policy for a client. Raises PolicyError."""
    from policies import memory
    from policies.policy_cache import Device, Key, PolicyCache
    from policies.registry import card_of, crop_of, open_policy
    from robots.policy_lookup import find_policy

    row = find_policy(name)
    if row.adapter not in families or row.adapter == REMOTE:
        reason = "is served elsewhere" if row.adapter == REMOTE else "reads the simulator, which clients do not have"
        raise BadCard(f"{row.id} {reason}: only policies with weights on this machine can be served")
    folder, statistics_key = Path(row.model_path), row.statistics_key or None
    memory.check(device)
    here = Device(device, int(MEMORY_SHARE * memory.total(device)), partial(memory.free, device), clients)
    return card_of(row.adapter, folder, statistics_key, row.card), partial(
        PolicyCache(here).lease,
        Key(row.id, row.revision, row.model_path, row.statistics_key),
        partial(memory.expected_bytes, folder, device, statistics_key),
        partial(open_policy, folder, device, statistics_key, centre_crop=crop_of(row.card)),
    )
