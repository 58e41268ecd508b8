"""`make bench-network`: measures the cost of a worker on another host.

The other host is simulated by a network namespace with its own address. Its worker reaches database, episode store,
broker and channel layer through links that delay everything by a given time in both directions. Turns are played by
policies that answer at once, first on the arena's own worker, then on the remote one. The output is seconds per turn
and the traffic over the links. Needs root, iproute2, and servers reachable from outside (`scripts/with_services.sh`).
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.visitor import Visitor
from vlaarena import bundled
from vlaarena.supervisor.plan import WORKER_ENVIRONMENT

NAME, HERE, THERE = f"vla-far-{os.getpid()}", "10.213.77.1", "10.213.77.2"
URLS = ("DATABASE_URL", "MONGO_URL", "BROKER_URL", "CHANNEL_URL")
NEAR, FAR = ("instant-1", "instant-2"), ("instant-3", "instant-4")
ONLY = """
from arena.models import Hosting
from policies.models import Policy
Policy.objects.update(status="retired")
Policy.objects.filter(id__in={names!r}).update(status="active")
print(Hosting.objects.able().filter(contestant__in={names!r}).count())
"""


@contextmanager
def far_host() -> Iterator[None]:
    """A network namespace NAME with the address THERE, which can reach only HERE."""
    commands = (
        f"ip netns add {NAME}",
        f"ip link add vla-here type veth peer name vla-there netns {NAME}",
        f"ip addr add {HERE}/30 dev vla-here",
        "ip link set vla-here up",
        f"ip -n {NAME} addr add {THERE}/30 dev vla-there",
        f"ip -n {NAME} link set vla-there up",
        f"ip -n {NAME} link set lo up",
    )
    try:
        for command in commands:
            subprocess.run(command.split(), check=True)
        yield
    finally:
        subprocess.run(["ip", "netns", "del", NAME], check=False)


@contextmanager
def episodes(folder: Path) -> Iterator[str]:
    """The URL of an episode store: MONGO_URL's, or a bundled server."""
    if url := os.environ.get("MONGO_URL"):
        yield url
        return
    port, password = bundled.free_port(), secrets.token_hex(16)
    server = subprocess.Popen(bundled.secantus_command(folder, port, password), stdout=subprocess.DEVNULL)
    try:
        if not bundled.wait_for(port):
            raise SystemExit("the bundled episode store did not start")
        yield bundled.mongo_url(port, password)
    finally:
        server.terminate()
        server.wait()


def measure(turns: int, delays_ms: list[float]) -> list[dict[str, float | str]]:
    # Imported after `episodes`: they read the environment, to which it adds.
    from load import ONLY_INSTANT

    from tests.faults.link import Line
    from tests.stack import NO_CLOCK, Arena, wait_until

    found: list[dict[str, float | str]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="vla-arena-network-")))
        arena = Arena(folder / "arena", **NO_CLOCK, ARENA_WORKER_POLICIES=",".join(NEAR))
        stack.callback(arena.close)
        arena.start()
        arena.manage("shell", "--verbosity", "0", "-c", ONLY_INSTANT)
        stack.enter_context(far_host())
        lines, environment = [], dict(arena.environment)
        for name in URLS:
            parts = urlsplit(environment[name])
            line = Line(parts.hostname or "127.0.0.1", parts.port or 0, listens_on=HERE)
            lines.append(line)
            user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
            environment[name] = parts._replace(netloc=f"{user}{HERE}:{line.port}").geturl()
        # Without this a replica set would name its members' own addresses, which the namespace cannot reach.
        environment["MONGO_URL"] += ("&" if "?" in environment["MONGO_URL"] else "/?") + "directConnection=true"
        queues = f"{environment['ARENA_PREFIX']}far"
        environment |= {"ARENA_WORKER_POLICIES": ",".join(FAR), "ARENA_DATA": str(folder / "far")}
        environment |= {**WORKER_ENVIRONMENT, "ARENA_LOG_LEVEL": "WARNING"}
        worker = ["ip", "netns", "exec", NAME, sys.executable, "-m", "celery", "-A", "vlaarena", "worker"]
        options = ["--hostname", "far@%h", "--concurrency", "2", "--loglevel", "WARNING", "-Q", queues]
        far = subprocess.Popen([*worker, *options], env=environment, stdout=subprocess.DEVNULL)
        stack.callback(far.wait)
        stack.callback(far.terminate)

        def play(place: str, names: tuple[str, ...], delay_ms: float) -> None:
            wait_until(lambda: arena.manage("shell", "--verbosity", "0", "-c", ONLY.format(names=names)) == "2\n", 90)
            for line in lines:
                line.delay_s = delay_ms / 1000
            visitor, seconds = Visitor(arena.url), []
            play_turn(visitor)
            before = sum(line.passed for line in lines)
            for _ in range(turns):
                began = time.perf_counter()
                play_turn(visitor)
                seconds.append(time.perf_counter() - began)
            kilobytes = (sum(line.passed for line in lines) - before) / 1000 / turns / 2
            found.append(
                {
                    "worker": place,
                    "delay_ms": delay_ms,
                    "turn_s": round(statistics.median(seconds), 2),
                    "least_s": round(min(seconds), 2),
                    "most_s": round(max(seconds), 2),
                    "kB_per_rollout": round(kilobytes, 1),
                }
            )

        play("here", NEAR, 0.0)
        for delay_ms in delays_ms:
            play("far", FAR, delay_ms)
        for line in lines:
            line.delay_s = 0.0
    return found


def play_turn(visitor: Visitor) -> None:
    """Play the first turn of a new battle to its end."""
    battle_id = visitor.open_battle()
    body = {"instruction": "wave to the crowd"}
    status, turn = visitor.post(f"/api/battles/{battle_id}/turns", body, Prefer="wait=60")
    if (status, turn["status"]) != (200, "completed"):
        raise RuntimeError(f"expected a turn that both sides completed, got {status} {turn}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--delays", type=float, nargs="*", default=[0.0, 5.0, 25.0], help="milliseconds, either way")
    options = parser.parse_args()
    if os.geteuid() != 0 or "DATABASE_URL" not in os.environ:
        print(
            "needs root and servers that others may reach: scripts/with_services.sh make bench-network", file=sys.stderr
        )
        return 2
    with tempfile.TemporaryDirectory(prefix="vla-arena-network-") as folder, episodes(Path(folder)) as url:
        os.environ["MONGO_URL"] = url
        for row in measure(options.turns, options.delays):
            print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
