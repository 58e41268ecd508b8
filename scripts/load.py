"""`make load`: a load test with hundreds of visitors on a new arena, with policies that answer at once.

With `--text-share 0.5` half of the visitors ask two language models of a scripted server instead of robots,
with `--voice-share` some call voice agents of a scripted provider, with `--worms-share` some read WormArena.
The policies hold still and rollouts last a few steps (ARENA_ROLLOUT_MAX_STEPS), so that the test measures the site and
not the networks. Everything else is real: worker, physics, recordings, sockets, votes. Limits per address are off,
since all visitors share one. The visitors take processor time of the same machine, which is reported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import load_fanout
import psutil
from bench_report import machine, reference_ms
from load_servers import scripted
from load_targets import SHARES, missed, published, troubles, until_the_start

from tests.ports import free_port
from tests.stack import Arena, wait_until

HERE = Path(__file__).resolve().parent
INSTANT = ("instant-1", "instant-2", "instant-3", "instant-4")
NO_LIMITS = {
    **dict.fromkeys(("ARENA_VOTES_PER_ADDRESS", "ARENA_TURNS_PER_ADDRESS", "ARENA_SESSIONS_PER_ADDRESS"), ""),
    "ARENA_MAX_TURNS_PER_ADDRESS": "0",
    **dict.fromkeys(("ARENA_PROMPTS_PER_ADDRESS", "ARENA_PROMPTS_PER_VISITOR"), ""),
}
ONLY_INSTANT = f"""
from policies.models import Policy
Policy.objects.update(status="retired")
for name in {INSTANT!r}:
    Policy.objects.create(id=name, name=name, family="reference", adapter="still", provenance="Answers at once")
"""
ONLY_SCRIPTED = "from texts.models import LanguageModel as M; M.objects.update(status='retired')"
SCRIPTED = ("scripted-quick", "scripted-slow")
ONLY_HOSTED = "from voice.models import VoiceAgent as A; A.objects.exclude(provider='vapi').update(status='retired')"
HOSTED = """
from arena.models import Hosting
print(Hosting.objects.able().filter(contestant__in={names!r}).values("contestant").distinct().count())
"""
SAMPLE_S = 30.0
READY_WITHIN_S = 600.0


class Watch(threading.Thread):
    """Samples every process's proportional set size (shared pages counted once) and processor time."""

    def __init__(self, arena: Arena) -> None:
        super().__init__(daemon=True)
        self._arena, self._over = arena, threading.Event()
        self._began = time.monotonic()
        self.samples: dict[str, list[tuple[float, float]]] = defaultdict(list)  # name -> (seconds, MB)
        self._used: dict[str, list[tuple[float, float]]] = defaultdict(list)  # name -> (seconds, processor seconds)
        self._busy: list[tuple[float, float]] = []  # (seconds, processor seconds of the whole machine)

    def run(self) -> None:
        while True:
            self._sample()
            if self._over.wait(SAMPLE_S):
                return

    def stop(self) -> None:
        self._over.set()
        self.join()
        self._sample()

    def _sample(self) -> None:
        busy = psutil.cpu_times()
        self._busy.append((time.monotonic() - self._began, busy.user + busy.nice + busy.system))
        names = {pid: name for name, pid in self._arena.children().items()}
        names[self._arena.process.pid] = "supervisor"
        for process in [psutil.Process(self._arena.process.pid), *self._arena.processes()]:
            try:
                name = names.get(process.pid) or f"{names.get(process.ppid(), 'child')}, process {process.pid}"
                size = process.memory_full_info().pss / 1e6
                used = process.cpu_times()
            except psutil.NoSuchProcess:
                continue
            now = time.monotonic() - self._began
            self.samples[name].append((now, size))
            self._used[name].append((now, used.user + used.system))

    def cores_of_others(self, visitors: float) -> float:
        """Cores that neither the arena took nor the visitors, of whom it is known: with them, calls wait for the
        processor."""
        own = sum(_slope(used) / 60 for used in self._used.values())
        return round(max(0.0, _slope(self._busy) / 60 - own - visitors), 2)

    def figures(self) -> list[dict[str, Any]]:
        """Per process: MB in the first and last sample, the maximum, the slope of the second half [MB/min], cores."""
        return [
            {
                "process": name,
                "first_mb": round(seen[0][1], 1),
                "last_mb": round(seen[-1][1], 1),
                "most_mb": round(max(size for _, size in seen), 1),
                "slope_mb_per_min": round(_slope(seen[len(seen) // 2 :]), 2),
                "cores": round(_slope(self._used[name]) / 60, 3),
            }
            for name, seen in sorted(self.samples.items())
        ]


def _slope(seen: list[tuple[float, float]]) -> float:
    """Least squares, per minute."""
    middle = sum(at for at, _ in seen) / len(seen)
    weight = sum((at - middle) ** 2 for at, _ in seen)
    return 60 * sum((at - middle) * size for at, size in seen) / weight if weight else 0.0


def prepare(arena: Arena, servers: Mapping[str, str]) -> None:
    """Replace all contestants by quick ones, and wait until workers host them. `servers`: by kind, those of scripted
    ones."""
    expected = (*INSTANT, *(SCRIPTED if "text" in servers else ()))
    if "text" in servers:
        arena.manage("shell", "-c", ONLY_SCRIPTED)
        for name in SCRIPTED:
            about = ["--url", servers["text"], "--served-name", name.removeprefix("scripted-")]
            arena.manage("add_model", name, "--kind", "text", *about)
    if "voice" in servers:
        arena.manage("shell", "-c", ONLY_HOSTED)
    arena.manage("shell", "--verbosity", "0", "-c", ONLY_INSTANT)
    asked = ("shell", "--verbosity", "0", "-c", HOSTED.format(names=expected))
    wait_until(lambda: arena.manage(*asked).strip() == str(len(expected)), 300)


def settings_of(options: argparse.Namespace, servers: Mapping[str, str]) -> dict[str, str]:
    """What the arena is set to for the kinds that are visited."""
    found = {} if options.web is None else {"ARENA_WEB_PROCESSES": str(options.web)}
    if servers:
        found["ARENA_KINDS"] = ",".join(["robots", *servers])
    if "text" in servers:
        found["ARENA_WAITING_THREADS"] = str(2 * options.visitors)
    if "voice" in servers:
        calls = 1 + math.ceil(2 * options.voice_share * options.visitors)
        found |= {"VAPI_API_KEY": "scripted", "ARENA_VOICE_VAPI_URL": servers["voice"]}
        found |= {"ARENA_VOICE_CALLS": str(calls), "ARENA_VOICE_PORT": str(free_port())}
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    shares = {kind: vars(options)[f"{kind}_share"] for kind in SHARES}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vla-arena-load-")))
        servers = {kind: stack.enter_context(scripted(kind)) for kind in ("text", "voice") if shares[kind]}
        more = settings_of(options, servers)
        arena = Arena(folder, **NO_LIMITS, **more, ARENA_ROLLOUT_MAX_STEPS=str(options.steps))
        try:
            arena.start(ready_within=READY_WITHIN_S)
            prepare(arena, servers)
            fanout = asyncio.run(load_fanout.measure(arena.url, options.visitors)) if options.fanout else None
            if options.across_an_hour:
                wait_for_the_hour(options)
            reference = reference_ms(rounds=10)
            watch = Watch(arena)
            watch.start()
            seconds = ("--seconds", str(60 * options.minutes), "--ramp", str(options.ramp))
            split = [word for kind, share in shares.items() for word in (f"--{kind}-share", str(share))]
            crowd = ("--visitors", str(options.visitors), "--rate", str(options.rate), *split)
            # In a process of its own, since gevent changes the standard library.
            command = [sys.executable, str(HERE / "load_visitors.py"), arena.url, *crowd, *seconds]
            printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
            watch.stop()
            found: dict[str, Any] = json.loads(printed.splitlines()[-1])
            return found | {
                "machine": machine(),
                "reference_ms": [round(each, 1) for each in reference],
                "fanout": fanout,
                "processes": watch.figures(),
                "others_cores": watch.cores_of_others(found["generator_cores"]),
                "publications": published(logged(folder)),
                "troubles": troubles(logged(folder)),
            }
        finally:
            arena.close()


def logged(folder: Path) -> Iterator[str]:
    """The lines of all logs."""
    for path in sorted(folder.glob("log/*.log*")):
        yield from path.read_text(errors="replace").splitlines()


def wait_for_the_hour(options: argparse.Namespace) -> None:
    seconds = until_the_start(datetime.now(UTC), options.ramp, 60 * options.minutes)
    print(f"the run starts in {seconds / 60:.0f} minutes, to measure across a full hour", file=sys.stderr, flush=True)
    time.sleep(seconds)


def print_report(found: dict[str, Any]) -> None:
    print(f"{found['visitors']} visitors, {found['per_s']} requests/s over {found['seconds']} s; ", end="")
    print(f"the visitors themselves took {found['generator_cores']} cores, other programs {found['others_cores']}")
    low, middle, high = (choose(found["reference_ms"]) for choose in (min, statistics.median, max))
    print(f"{found['machine']}; its reference work took {middle:.3g} ms ({low:.3g} to {high:.3g}) before the run")
    print("\n| endpoint | requests | failed | p50 ms | p95 ms | p99 ms | max ms |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for each in found["endpoints"]:
        times = " | ".join(f"{each[name]:.0f}" for name in ("p50_ms", "p95_ms", "p99_ms", "max_ms"))
        print(f"| {each['name']} | {each['requests']} | {each['failures']} | {times} |")
    print("\n| process | first MB | last MB | most MB | MB/min in the second half | cores |")
    print("| --- | --- | --- | --- | --- | --- |")
    for each in found["processes"]:
        sizes = f"{each['first_mb']} | {each['last_mb']} | {each['most_mb']} | {each['slope_mb_per_min']}"
        print(f"| {each['process']} | {sizes} | {each['cores']} |")
    for name in ("publications", "fanout", "errors", "errors_of_the_ramp", "troubles"):
        if found.get(name):
            print(f"\n{name}: {json.dumps(found[name], indent=1)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=300)
    parser.add_argument("--rate", type=float, default=50.0, help="requests per second of all visitors, without files")
    parser.add_argument("--ramp", type=float, default=300.0, help="seconds until all visitors are active; not measured")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--steps", type=int, default=3, help="control steps of a rollout")
    parser.add_argument("--web", type=int, help="web processes (ARENA_WEB_PROCESSES)")
    for kind, what in SHARES.items():
        parser.add_argument(f"--{kind}-share", type=float, default=0.0, help=f"of the visitors who {what}")
    parser.add_argument("--no-fanout", dest="fanout", action="store_false", help="skip the many sockets on one battle")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument(
        "--any-time",
        dest="across_an_hour",
        action="store_false",
        help="start at once; otherwise the run waits until a full hour, with its publication, lies in what is measured",
    )
    options = parser.parse_args()
    if options.across_an_hour:
        try:
            until_the_start(datetime.now(UTC), options.ramp, 60 * options.minutes)
        except ValueError as error:
            parser.error(f"--minutes: {error}")
    found = measure(options)
    if options.json:
        print(json.dumps(found))
    else:
        print_report(found)
    failed = missed(found, options.rate, across_an_hour=options.across_an_hour)
    print(f"missed: {', '.join(failed)}" if failed else "every target is met", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
