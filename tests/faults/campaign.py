"""`make test-faults`: kill, freeze, cut off, fill and set the clock while visitors play; then audit.

Exit code 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import servers
from tests.faults import audit, inject, services
from tests.faults.crowd import Crowd, Ledger
from tests.faults.inject import Fault
from tests.faults.testbed import Testbed
from tests.stack import wait_until

SETTLE_S = 300.0
LOG = Path(__file__).resolve().parents[2] / "build" / "faults.log"
KINDS = ("kills", "freezes", "cuts", "disk", "clock")
SERVERS = {"default": services.none, "bundled": services.bundled_services, "real": services.real_services}


@dataclass
class Report:
    faults: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)  # the part was away just then
    ledger: Ledger = field(default_factory=Ledger)
    complaints: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)  # what the arena said meanwhile
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "faults": dict(self.faults),
            "missed": dict(self.missed),
            "seconds": round(self.seconds, 1),
            "served": self.ledger.served,
            "told": dict(self.ledger.told),
            "unreachable": self.ledger.unreachable,
            "turns": len(self.ledger.turns),
            "votes": len(self.ledger.votes),
            "open_votes": len(self.ledger.open_votes),
            "sockets": dict(self.ledger.sockets.counts),
            "complaints": self.complaints,
        }


def run(testbed: Testbed, faults: Iterable[Fault], players: int, seed: int) -> Report:
    report, begun = Report(), time.monotonic()
    with Crowd(testbed.url, players, seed) as crowd:
        time.sleep(2)
        for fault in faults:
            done = fault.cause()
            (report.faults if done else report.missed)[fault.kind] += 1
            _tell(f"{time.monotonic() - begun:6.1f} s  {fault.kind}{'' if done else ': nothing there'}")
            if fault.settles:
                report.complaints += _awaited("the arena is not well again", lambda: testbed.arena.health()[0] == 200)
                time.sleep(3)
        report.complaints += _awaited("the arena is not well in the end", lambda: testbed.arena.health()[0] == 200)
        time.sleep(5)
    report.ledger = crowd.ledger()
    report.complaints += _awaited("turns have not ended", lambda: _settled(testbed))
    report.complaints += audit.complaints(report.ledger, audit.look(testbed.arena)) + audit.self_checks(testbed.arena)
    report.seconds = time.monotonic() - begun
    if report.complaints:
        report.log = testbed.logs()
    return report


def _awaited(otherwise: str, what: Callable[[], bool]) -> list[str]:
    try:
        wait_until(what, SETTLE_S)
    except AssertionError:
        return [f"{otherwise} after {SETTLE_S:.0f} s"]
    return []


def _settled(testbed: Testbed) -> bool:
    held = audit.look(testbed.arena)
    return all(set(states) <= audit.DONE for states in held.turns.values())


def _until(deadline: float, faults: Iterable[Fault]) -> Iterator[Fault]:
    return itertools.takewhile(lambda _: time.monotonic() < deadline, faults)


def _leg(options: argparse.Namespace, servers_named: str, kinds: Sequence[str]) -> Report:
    """One arena, its faults, and the audit."""
    disk = tempfile.TemporaryDirectory(prefix="arena-faults-", ignore_cleanup_errors=True)
    with disk as folder, Testbed(Path(folder), SERVERS[servers_named], jumps="clock" in kinds) as testbed:
        _tell(f"{testbed.url} is up, with {servers_named} servers: {', '.join(kinds)}")
        wait = options.seconds
        known = {
            "kills": inject.kills(testbed, options.kills, random.Random(options.seed)),
            "freezes": inject.freezes(testbed, wait),
            "cuts": inject.cuts(testbed, wait),
            "disk": inject.full_disk(testbed, wait),
            "clock": inject.jumps(testbed, wait),
        }
        faults = itertools.chain(*(known[name] for name in kinds))
        return run(testbed, _until(time.monotonic() + 60 * options.minutes, faults), options.players, options.seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--servers",
        nargs="+",
        choices=list(SERVERS),
        default=list(SERVERS),
        help="all when left out",
    )
    parser.add_argument("--kills", type=int, default=60, help="with each kind of servers")
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long anything but a kill lasts")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="which faults; all when left out")
    parser.add_argument("--minutes", type=float, default=60.0, help="no new fault on an arena after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object per arena on stdout, without line breaks")
    options = parser.parse_args()
    if servers.given:
        parser.error(f"unset {', '.join(servers.given)}: only servers that the campaign starts itself are broken")
    broken = False
    for servers_named in options.servers:
        # A faked clock is no part of the other faults: the arena that has it is one of its own.
        for kinds in (
            [kind for kind in options.kinds if kind != "clock"],
            ["clock"] if "clock" in options.kinds else [],
        ):
            if not kinds:
                continue
            report = _leg(options, servers_named, [kind for kind in KINDS if kind in kinds])
            told = {"servers": servers_named, **report.to_json()}
            print(json.dumps(told, indent=None if options.json else 1), flush=True)
            if report.complaints:
                broken = True
                LOG.parent.mkdir(exist_ok=True)
                LOG.write_text("".join(report.log))
                _tell(f"what that arena said is in {LOG}")
    return 1 if broken else 0


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except services.ServiceMissing as missing:
        sys.exit(f"{missing}; or leave these servers out: --servers bundled")
