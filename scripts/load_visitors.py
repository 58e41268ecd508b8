"""The visitors of `make load`, simulated by locust.

A visitor behaves like a browser with a request every few seconds: it opens the battle page with its files, plays in a
session, watches through its socket, fetches the recordings, votes and looks at other pages; others ask language models,
call voice agents, or read WormArena. After some battles a new visitor with an empty cache takes its place. Files of
pages and scenes come on top of the rate. The script prints one JSON object with the latencies per endpoint.
"""

# ruff: noqa: E402 - gevent must patch the standard library before any other import
from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import gevent
from load_battles import Robots, Texts
from load_browser import FILE, SOCKET, Browser, Script
from load_calls import Calls
from load_targets import SHARES
from load_worms import Worms
from locust.env import Environment
from locust.stats import StatsEntry

SCRIPTS: Mapping[str, Callable[[Browser], Script]] = {"text": Texts, "voice": Calls, "worms": Worms}


def scripts(shares: Mapping[str, float]) -> dict[Callable[[Browser], Script], float]:
    """Each kind's script and its share; what is left plays with robots."""
    found = {SCRIPTS[kind]: share for kind, share in shares.items() if share}
    return {**found, Robots: max(0.0, 1.0 - sum(shares.values()))}


def summary(entry: StatsEntry) -> dict[str, Any]:
    shares = {f"p{round(100 * share)}_ms": entry.get_response_time_percentile(share) for share in (0.5, 0.95, 0.99)}
    return {
        "name": entry.name,
        "requests": entry.num_requests,
        "failures": entry.num_failures,
        **{name: round(value or 0.0, 1) for name, value in shares.items()},
        "max_ms": round(entry.max_response_time, 1),
        "per_s": round(entry.total_rps, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--visitors", type=int, default=300)
    parser.add_argument("--rate", type=float, default=50.0, help="requests per second of all visitors, without files")
    parser.add_argument("--ramp", type=float, default=300.0, help="seconds until all visitors are there; not measured")
    parser.add_argument("--seconds", type=float, default=120.0, help="measured, after the ramp")
    for kind, what in SHARES.items():
        parser.add_argument(f"--{kind}-share", type=float, default=0.0, help=f"of the visitors who {what}")
    options = parser.parse_args()
    shares = {kind: vars(options)[f"{kind}_share"] for kind in SHARES}
    about = {"pace_s": options.visitors / options.rate, "scripts": scripts(shares)}
    crowd = type("Crowd", (Browser,), {**about, "host": options.url.rstrip("/")})
    environment = Environment(user_classes=[crowd])
    runner = environment.create_local_runner()
    runner.start(options.visitors, spawn_rate=options.visitors / options.ramp)
    gevent.sleep(options.ramp)
    errors_of_the_ramp = {str(error.error): error.occurrences for error in environment.stats.errors.values()}
    environment.stats.reset_all()
    print("measuring", file=sys.stderr, flush=True)
    began, used = time.monotonic(), time.process_time()
    gevent.sleep(options.seconds)
    span, own = time.monotonic() - began, time.process_time() - used
    by_name = sorted(environment.stats.entries.values(), key=lambda entry: entry.name)
    whole = StatsEntry(environment.stats, "all requests without files", "", use_response_times_cache=False)
    for entry in by_name:
        if not entry.name.startswith((SOCKET, FILE)):
            whole.extend(entry)
    errors = {f"{each.name}: {each.error}": each.occurrences for each in environment.stats.errors.values()}
    found = {
        "seconds": round(span, 1),
        "visitors": runner.user_count,
        "per_s": round(whole.num_requests / span, 1),
        "generator_cores": round(own / span, 2),
        "endpoints": [summary(whole), *(summary(entry) for entry in by_name)],
        "errors": errors,
        "errors_of_the_ramp": errors_of_the_ramp,
    }
    print(json.dumps(found), flush=True)
    os._exit(0)  # ends all visitors at once: closing them takes long and is not measured


if __name__ == "__main__":
    main()
