"""`make test-faults`: kill, freeze, cut off and fill while visitors play; then audit.

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
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults import audit, inject
from tests.faults.crowd import Crowd, Ledger
from tests.faults.inject import Fault
from tests.faults.stage import Theatre
from tests.stack import wait_until

SETTLE_S = 180.0
KINDS = ("kills", "freezes", "cuts", "disk")


@dataclass
class Report:
    faults: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)  # the part was away just then
    ledger: Ledger = field(default_factory=Ledger)
    complaints: list[str] = field(default_factory=list)
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
            "complaints": self.complaints,
        }


def run(theatre: Theatre, faults: Iterable[Fault], players: int, seed: int) -> Report:
    report, begun = Report(), time.monotonic()
    with Crowd(theatre.arena.url, players, seed) as crowd:
        time.sleep(2)
        for fault in faults:
            done = fault.cause()
            (report.faults if done else report.missed)[fault.kind] += 1
            _tell(f"{time.monotonic() - begun:6.1f} s  {fault.kind}{'' if done else ': nothing there'}")
            if not fault.kind.startswith("kill"):
                wait_until(lambda: theatre.arena.health()[0] == 200, SETTLE_S)
                time.sleep(3)
        wait_until(lambda: theatre.arena.health()[0] == 200, SETTLE_S)
        time.sleep(5)
    report.ledger = crowd.ledger()
    wait_until(lambda: _settled(theatre), SETTLE_S)
    report.complaints = audit.complaints(report.ledger, audit.look(theatre.arena)) + audit.self_checks(theatre.arena)
    report.seconds = time.monotonic() - begun
    return report


def _settled(theatre: Theatre) -> bool:
    held = audit.look(theatre.arena)
    return all(set(states) <= audit.DONE for states in held.turns.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--players", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long a freeze, a cut and a full disk last")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="which faults; all when left out")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    options = parser.parse_args()
    disk = tempfile.TemporaryDirectory(prefix="arena-faults-", ignore_cleanup_errors=True)
    with disk as folder, Theatre(Path(folder)) as theatre:
        _tell(f"{theatre.arena.url} is up")
        wait = options.seconds
        kinds = {
            "kills": inject.kills(theatre, options.kills, random.Random(options.seed)),
            "freezes": inject.freezes(theatre, wait),
            "cuts": inject.cuts(theatre, wait),
            "disk": inject.full_disk(theatre, wait),
        }
        faults = itertools.chain(*(kinds[name] for name in options.kinds))
        report = run(theatre, faults, options.players, options.seed)
    print(json.dumps(report.to_json(), indent=None if options.json else 1))
    return 1 if report.complaints else 0


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
