"""`make bench-publication`: the time and memory of an hourly publication of many votes (ARGS: --votes --voters --days).

It writes the copies of past days that such an arena would have (`rankings.votes.closed_days`) into a new SQLite
database, without battles and raw votes, of which a publication reads only those of the last two days, and publishes
once in a process of its own. Nobody has answered a calibration battle.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from rankings.models import ClosedDay

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

POLICIES, SEED = 50, 0
TASKS = ("pick", "put", "stack")
WANTED_S, WANTED_MB = 30.0, 1500.0


def fill(votes: int, voters: int, days: int) -> None:
    """Into the settings' database, which must be empty."""
    import django

    django.setup()
    from django.core.management import call_command

    from policies.models import Policy
    from rankings.models import ClassicElo, ClosedDay
    from rankings.tally.table import Board

    call_command("migrate", verbosity=0)
    names = [f"policy-{number:02}" for number in range(POLICIES)]
    Policy.objects.all().delete()
    for name in names:
        Policy.objects.create(id=name, name=name, family="bench", adapter="still", provenance="Synthetic")
    places = itertools.product(("", "widowx"), ("", "table"), ("", *TASKS))
    ClassicElo.objects.bulk_create(
        ClassicElo(kind="robots", board=Board(*place).name, ratings=dict.fromkeys(names, 1500)) for place in places
    )
    random = np.random.default_rng(SEED)
    ability = random.normal(0.0, 0.8, POLICIES)
    activity = random.lognormal(0.0, 1.0, voters).cumsum()
    known = [f"{number:016x}" for number in random.integers(0, 2**63, voters).tolist()]
    today = datetime.now(UTC).date()
    for number in range(days):
        day = today - timedelta(days=days + 1 - number)
        ClosedDay.objects.bulk_create([closed(day, votes // days, names, ability, activity, known, random)])


def closed(
    day: date,
    votes: int,
    names: list[str],
    ability: np.ndarray,
    activity: np.ndarray,
    known: list[str],
    random: np.random.Generator,
) -> ClosedDay:
    """A day's copy: each vote on another row, of a voter with a network of its own."""
    from rankings.models import ClosedDay
    from rankings.tally.counts import OUTCOMES
    from rankings.votes import closed_days

    left = random.integers(0, POLICIES, votes)
    right = (left + random.integers(1, POLICIES, votes)) % POLICIES
    voter = np.searchsorted(activity / activity[-1], random.random(votes))
    wins = random.random(votes) < 1.0 / (1.0 + np.exp(ability[right] - ability[left]))
    outcome = np.where(random.random(votes) < 0.3, 2, np.where(wins, 0, 1))
    present, who = np.unique(voter, return_inverse=True)
    own = [known[place] for place in present.tolist()]
    one = np.zeros(votes, np.int64)
    texts = {
        "robot": (["widowx"], one),
        "scene": (["table"], one),
        "task": ([*TASKS], random.integers(0, len(TASKS), votes)),
        "left": (names, left),
        "right": (names, right),
        "voter": (own, who),
        "day": ([day.isoformat()], one),
        "network": ([f"n{name}" for name in own], who),
    }
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values, pa.string()))
        for name, (values, codes) in texts.items()
    }
    counts = pa.table(
        {**columns, **{name: pa.array((outcome == place) * 1) for place, name in enumerate(OUTCOMES)}},
        schema=closed_days.SCHEMA,
    )
    steps = {name: pa.array(random.integers(10, 50, votes)) for name in ("steps_left", "steps_right")}
    physics = pa.array(random.integers(0, 3, votes))
    facts = pa.table(
        {
            **{name: column for name, column in columns.items() if name != "network"},
            "vote": pa.array(outcome),
            "physics": physics,
            **steps,
        },
        schema=closed_days.FACTS,
    )
    found = ClosedDay(day=day, facts=closed_days._packed(facts), answers={})
    stream = closed_days._packed(counts)
    found.counts = stream + closed_days._sum(found, stream)
    return found


def publish() -> dict[str, float]:
    """Of this process: the wall and processor seconds of a publication, and the most memory it has had [MB]."""
    import django

    django.setup()
    from rankings.models import Snapshot
    from rankings.publication import aggregation

    started, used = time.perf_counter(), time.process_time()
    aggregation.aggregate()
    found = {"wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used}
    board = Snapshot.objects.latest("pk").boards["global"]
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1.024e-3  # of KiB
    return {**found, "memory_mb": most, "votes": sum(row["votes"] for row in board["models"].values()) / 2}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=10_000_000)
    parser.add_argument("--voters", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=100)
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.publish:
        print(json.dumps(publish()))
        return 0
    with tempfile.TemporaryDirectory(prefix="vla-arena-publication-") as folder:
        os.environ.update({"ARENA_DATA": folder, "DATABASE_URL": f"sqlite:///{folder}/arena.sqlite3"})
        os.environ["DJANGO_SETTINGS_MODULE"] = "vlaarena.settings"
        fill(options.votes, options.voters, options.days)
        own = subprocess.run([sys.executable, __file__, "--publish"], check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(own.stdout.splitlines()[-1])
    met = found["wall_s"] < WANTED_S and found["memory_mb"] < WANTED_MB
    print(
        f"{found['votes']:.0f} votes, {options.voters} voters, {options.days} days, {POLICIES} policies: "
        f"{found['wall_s']:.1f} s (wanted: {WANTED_S:g}), CPU {found['cpu_s']:.1f} s, "
        f"{found['memory_mb']:.0f} MB (wanted: {WANTED_MB:g}): {'met' if met else 'missed'}; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
