"""`make bench-peers`: rates one file of a million votes with the arena and with other packages.

Each measurement is a whole process. The other packages are installed into build/peers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "build" / "peers"
PYTHON = PEERS / "venv" / "bin" / "python"
ANSWERS = ROOT / "tests" / "rankings" / "data"
POLICIES, VOTERS, SEED = 50, 100_000, 0
WANTED_RATIO, WANTED_DIFFERENCE = 10.0, 0.05
PLAIN = ("--cap", "0", "--cluster", "none")
"""Each vote for itself, whoever cast it, as the other packages take them."""
OUTCOMES = np.array(["left_better", "right_better", "tie", "both_bad"])


@dataclass(frozen=True)
class Peer:
    package: str
    requirements: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Options of pip."""
    gives: str = "ratings and intervals"
    wanted_ratio: float | None = WANTED_RATIO
    """Of its time to ours of votes for themselves: none of them asks who voted."""
    once: bool = False
    """Whether it is too slow to be repeated."""


NEEDED = [
    Peer("arena-rank", ("arena-rank==0.1.1",)),
    Peer("evalica", ("evalica==0.4.2",), gives="ratings alone", wanted_ratio=None),
    Peer("fschat", ("fschat==0.2.36",), ("--no-deps",), "ratings alone"),
    Peer(
        "fschat-intervals", ("fschat==0.2.36",), ("--no-deps",), "ratings and 10 of 100 rounds of intervals", once=True
    ),
]
"""fschat 0.2.36 is the newest release of FastChat; no release has the newer rating_systems.py."""
BESIDE_FSCHAT = "scikit-learn==1.7.2"


@dataclass
class Timing:
    """Timings of one command, each of a whole process. `ratings`: the output of the last run."""

    command: list[str]
    walls: list[float] = field(default_factory=list)
    """Seconds."""
    cpus: list[float] = field(default_factory=list)
    """Seconds, user and system together."""
    ratings: dict[str, float] = field(default_factory=dict)

    def run(self) -> Timing:
        """Run the command once. Raises SystemExit if it fails."""
        before, start = _cpu_of_children(), time.perf_counter()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(self.command, capture_output=True, text=True, cwd=ROOT, env=environment)
        self.walls.append(time.perf_counter() - start)
        self.cpus.append(_cpu_of_children() - before)
        if done.returncode:
            raise SystemExit(f"{' '.join(self.command)} failed:\n{done.stderr}")
        found = json.loads(done.stdout.strip().splitlines()[-1])
        self.ratings = {name: row["rating"] for name, row in found["models"].items()} if "models" in found else found
        return self

    def summary(self) -> dict[str, Any]:
        """The medians and ranges."""
        return {
            "wall_s": statistics.median(self.walls),
            "wall_range_s": [min(self.walls), max(self.walls)],
            "cpu_s": statistics.median(self.cpus),
            "cpu_range_s": [min(self.cpus), max(self.cpus)],
        }

    def worst_difference(self, other: dict[str, float]) -> float:
        """The largest difference of two ratings in Elo points, after centring both sets."""
        mine, theirs = (np.array([each[name] for name in sorted(each)]) for each in (self.ratings, other))
        return float(np.abs((mine - mine.mean()) - (theirs - theirs.mean())).max())


def install() -> dict[str, str]:
    """Install the packages. Returns package -> reason of those that could not be installed."""
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PYTHON.parent.parent)], check=True)
    failed = {}
    for peer in NEEDED:
        commands = [[*peer.options, *peer.requirements]] + ([[BESIDE_FSCHAT]] if peer.package == "fschat" else [])
        for words in commands:
            done = subprocess.run(
                [str(PYTHON), "-m", "pip", "install", "--quiet", *words], capture_output=True, text=True
            )
            if done.returncode:
                failed[peer.package] = (done.stderr.strip().splitlines() or ["pip failed"])[-1]
    return failed


def write_votes(path: Path, votes: int, policies: int = POLICIES, voters: int = VOTERS) -> None:
    """Write a deterministic file of votes: some voters cast many, 25 % are ties, 5 % both_bad."""
    rng = np.random.default_rng(SEED)
    ability = rng.normal(0.0, 0.8, policies)
    left = rng.integers(0, policies, votes)
    right = (left + rng.integers(1, policies, votes)) % policies
    activity = rng.lognormal(0.0, 1.0, voters).cumsum()
    voter = np.searchsorted(activity / activity[-1], rng.random(votes))
    wins = rng.random(votes) < 1.0 / (1.0 + np.exp(ability[right] - ability[left]))
    kind = rng.random(votes)
    outcome = OUTCOMES[np.where(kind < 0.25, 2, np.where(kind < 0.30, 3, np.where(wins, 0, 1)))]
    names = [f"{number:016x}" for number in rng.integers(0, 2**63, voters).tolist()]
    columns = zip(left.tolist(), right.tolist(), voter.tolist(), outcome.tolist(), strict=True)
    with path.open("w", encoding="utf-8") as file:
        file.write("battle_id,voter_id,robot,left,right,vote\n")
        file.writelines(
            f"battle_{number:08x},{names[who]},widowx,policy-{a:02},policy-{b:02},{vote}\n"
            for number, (a, b, who, vote) in enumerate(columns)
        )


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(votes: int, repeats: int) -> dict[str, Any]:
    PEERS.mkdir(parents=True, exist_ok=True)
    failed = install()
    path = PEERS / f"votes-{votes}.csv"
    write_votes(path, votes)
    rate = [sys.executable, "manage.py", "rate", str(path), "--json"]
    ours, plain = Timing(rate), Timing([*rate, *PLAIN])
    theirs = {
        peer.package: Timing([str(PYTHON), "scripts/peer_ratings.py", peer.package, str(path)])
        for peer in NEEDED
        if peer.package not in failed
    }
    once = {peer.package for peer in NEEDED if peer.once}
    for number in range(repeats):  # interleaved, so that all run under the same load of the machine
        ours.run()
        plain.run()
        for package, timing in theirs.items():
            if number == 0 or package not in once:
                timing.run()
    alike = Timing([*rate, "--prior", "0", "--cap", "0"]).run()  # the others have neither prior nor cap
    rows: list[dict[str, Any]] = []
    by_voter, of_votes = ours.summary(), plain.summary()
    for peer in NEEDED:
        if peer.package in failed:
            rows.append({"package": peer.package, "not_installed": failed[peer.package]})
            continue
        found = theirs[peer.package].summary()
        rows.append(
            {
                "package": peer.requirements[0],
                "gives": peer.gives,
                **found,
                **{f"{name}_ratio": found[f"{name}_s"] / of_votes[f"{name}_s"] for name in ("wall", "cpu")},
                "ratio_by_voter": found["wall_s"] / by_voter["wall_s"],
                "wanted_ratio": peer.wanted_ratio,
                "difference_elo": alike.worst_difference(theirs[peer.package].ratings),
            }
        )
    return {
        "votes": votes,
        "runs": repeats,
        "load": os.getloadavg()[0],
        "ours": by_voter,
        "plain": of_votes,
        "peers": rows,
    }


def renew() -> None:
    """Write the other packages' ratings of a small file for the tests. Raises SystemExit if one cannot be installed."""
    PEERS.mkdir(parents=True, exist_ok=True)
    if failed := install():
        raise SystemExit("\n".join(f"{package}: {reason}" for package, reason in failed.items()))
    path = ANSWERS / "peer_votes.csv"
    write_votes(path, 600, policies=12, voters=100)
    answers = {}
    for peer in (peer for peer in NEEDED if peer.package in ("arena-rank", "evalica")):  # FastChat adds a penalty
        found = Timing([str(PYTHON), "scripts/peer_ratings.py", peer.package, str(path)]).run().ratings
        mean = statistics.mean(found.values())
        ratings = {name: round(found[name] - mean, 4) for name in sorted(found)}
        answers[peer.package] = {"release": peer.requirements[0], "ratings": ratings}
    (ANSWERS / "peer_ratings.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")


def show(found: dict[str, Any]) -> None:
    ours, runs = found["ours"], found["runs"]
    print(f"{found['votes']} votes, {POLICIES} policies, {VOTERS} voters; load {found['load']:.1f}; medians of {runs}")
    print(f"manage.py rate: {_seconds(ours)}, intervals by voter")
    print(
        f"manage.py rate {' '.join(PLAIN)}: {_seconds(found['plain'])}, ratings, intervals as if of independent votes"
    )
    for row in found["peers"]:
        if "not_installed" in row:
            print(f"{row['package']}: not measured, it could not be installed: {row['not_installed']}")
            continue
        wanted = f" (wanted: {row['wanted_ratio']:g})" if row["wanted_ratio"] else ""
        print(
            f"{row['package']}: {_seconds(row)}, {row['gives']}; "
            f"{row['wall_ratio']:.1f} times ours of votes for themselves, CPU {row['cpu_ratio']:.1f} times{wanted}, "
            f"{row['ratio_by_voter']:.1f} times ours by voter; "
            f"ratings differ by at most {row['difference_elo']:.4f} Elo (wanted: {WANTED_DIFFERENCE:g})"
        )


def missed(found: dict[str, Any]) -> list[str]:
    """What was wanted and is not so, or could not be measured."""
    rows = found["peers"]
    slow = [row for row in rows if row.get("wanted_ratio") and row["wall_ratio"] < row["wanted_ratio"]]
    other = [row for row in rows if row.get("difference_elo", 0.0) > WANTED_DIFFERENCE]
    return [
        *(f"{row['package']} is not installed" for row in rows if "not_installed" in row),
        *(f"{row['package']}, {row['gives']}: {row['wall_ratio']:.1f} times" for row in slow),
        *(f"{row['package']}, {row['gives']}: {row['difference_elo']:.4f} Elo" for row in other),
    ]


def _seconds(summary: dict[str, Any]) -> str:
    (wall_low, wall_high), (cpu_low, cpu_high) = summary["wall_range_s"], summary["cpu_range_s"]
    return (
        f"{summary['wall_s']:.2f} s ({wall_low:.2f} to {wall_high:.2f}), "
        f"CPU {summary['cpu_s']:.2f} s ({cpu_low:.2f} to {cpu_high:.2f})"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--renew", action="store_true", help="only write the reference ratings for the tests")
    options = parser.parse_args()
    if options.renew:
        renew()
        return 0
    found = measure(options.votes, options.repeats)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)
    failed = missed(found)
    print(f"missed: {'; '.join(failed)}" if failed else "every target is met", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
