"""`make test-crowd`: crowds of one and campaigns push a policy through HTTP, at full size, beside honest votes.

    python -m tests.crowd_campaign --trials 5 --only "250 by 17"

Prints one line of JSON per trial, and exits with 1 when a rating moved farther than promised, or too few were named.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
NAMED = 0.8
"""Share of the trials in which moderators must be told of the campaign."""


class Promise(NamedTuple):
    """`most`: points by which the most moved rating may move."""

    votes: int
    cookies: int
    networks: int
    days: int
    knowing: bool
    most: int
    trials: int | None = None


PROMISES = {
    "1000 by 1000 cookies, one network, one day": Promise(1000, 1000, 1, 1, False, 10, trials=1),
    "1000 by 82 cookies, one network, one day": Promise(1000, 82, 1, 1, False, 10, trials=1),
    "250 by 17 cookies, 17 networks, one day": Promise(250, 17, 17, 1, False, 20),
    "250 by 250 cookies, 17 networks, one day": Promise(250, 250, 17, 1, False, 20),
    "250 by 17 cookies, 17 networks, one day, agreeing with physics": Promise(250, 17, 17, 1, True, 20),
    "250 by 17 cookies, 17 networks, five days, agreeing with physics": Promise(250, 17, 17, 5, True, 20),
    "1000 by 82 cookies, one network, five days, agreeing with physics": Promise(1000, 82, 1, 5, True, 10, trials=1),
}


def main() -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers of this run end with it
    django.setup()
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with _database():
        for name, promise in PROMISES.items():
            if options.only in name:
                for number in range(min(options.trials, promise.trials or options.trials)):
                    found[name].append(_trial(promise, options.seed + number, options.push))
                    print(json.dumps({"crowd": name, **found[name][-1]}), flush=True)
    broken = [line for name, trials in found.items() for line in _broken(name, PROMISES[name], trials)]
    print("\n".join(broken or ["every promise was kept"]), file=sys.stderr)
    return bool(broken)


def _trial(promise: Promise, seed: int, push: str) -> dict[str, Any]:
    from django.core.cache import cache
    from django.core.management import call_command

    from tests.honest_arena import Published, as_shipped, campaigns_for, drawn_most, fill
    from tests.pushers import Push, Pushers

    began = time.monotonic()
    cache.clear()
    call_command("flush", interactive=False, verbosity=0)
    with as_shipped() as clock:
        skills, published = fill(seed), Published(clock)
        published.now()
        target = {"middle": skills.middle, "drawn-most": drawn_most()}[push]
        pushers = Pushers(target, skills, clock, published)
        pushers.push(Push(promise.votes, promise.cookies, promise.networks, promise.days, promise.knowing))
        return {
            "seed": seed,
            "pushed": push,
            "rank": skills.rank(target),
            "moved": published.moved(),
            "named": bool(campaigns_for(pushers.target)),
            "accepted": pushers.accepted,
            "refused": pushers.refused,
            "sessions": pushers.opened,
            "publications": len(published.ratings),
            "took_s": round(time.monotonic() - began),
        }


def _broken(name: str, promise: Promise, trials: list[dict[str, Any]]) -> Iterator[str]:
    farthest = max(trial["moved"] for trial in trials)
    if farthest > promise.most:
        yield f"{name}: a rating moved by {farthest} points, promised are at most {promise.most}"
    named = sum(trial["named"] for trial in trials)
    if named < NAMED * len(trials):
        yield f"{name}: named to moderators in {named} of {len(trials)} trials"


@contextmanager
def _database() -> Iterator[None]:
    """A database and servers of this run alone."""
    import logging
    import shutil

    from django.db import connection
    from django.test.utils import setup_test_environment, teardown_test_environment

    from tests import servers
    from tests.settings import RUN_DIR

    logging.disable(logging.WARNING)
    setup_test_environment()
    servers.start()
    try:
        connection.creation.create_test_db(verbosity=0)
        yield
        connection.creation.destroy_test_db(connection.settings_dict["NAME"], verbosity=0)
    finally:
        servers.stop()
        teardown_test_environment()
        shutil.rmtree(RUN_DIR, ignore_errors=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5, help="arenas per crowd of 250 votes")
    parser.add_argument("--only", default="", help="crowds whose name has this in it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--push",
        choices=("middle", "drawn-most"),
        default="middle",
        help="the policy in the middle, or known least",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
