"""`make bench-voice`: measures calls at once through the process that holds them; the provider sends back what it got.

Each browser sends pieces of 40 ms, as a page does, and gets a stream of 100 ms pieces. Reported are how late each of
these came on the call's own clock, gaps in a playback that begins with 150 ms as on the page, and the memory and the
processor time of the process, which says the same on a machine that other work keeps busy.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "vlaarena.settings"

SENT_MS, FILL_MS, ECHO_AFTER_MS = 40, 150, 2000
LOUD = (4000).to_bytes(2, "little")


@dataclass
class Heard:
    """Of one call: when each piece came [s]."""

    came: list[float] = field(default_factory=list)
    trouble: str = ""

    @property
    def late(self) -> list[float]:
        """Of each piece on the clock of the pieces, whose beginning is that of the earliest one."""
        ahead = [at - number * 0.1 for number, at in enumerate(self.came)]
        return [each - min(ahead) for each in ahead]

    @property
    def gaps(self) -> int:
        found, buffered_until = 0, 0.0
        waiting = 0.0
        for at in self.came:
            if buffered_until and at > buffered_until:
                found, buffered_until = found + 1, 0.0
            if buffered_until:
                buffered_until += 0.1
                continue
            waiting += 0.1
            if waiting >= FILL_MS / 1000:
                buffered_until, waiting = at + waiting, 0.0
        return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    arguments.add_argument("--calls", type=int, default=10)
    arguments.add_argument("--seconds", type=float, default=30.0)
    arguments.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    asked = arguments.parse_args()
    if asked.serve:
        return serve(asked.serve)
    with tempfile.TemporaryDirectory(prefix="bench-voice-") as folder:
        measure(Path(folder), asked.calls, asked.seconds)
    return None


# The process that holds calls, with a scripted provider.


def serve(port: int) -> None:
    import django

    django.setup()
    from channels.routing import ProtocolTypeRouter
    from daphne.endpoints import build_endpoint_description_strings  # type: ignore[import-untyped]
    from daphne.server import Server  # type: ignore[import-untyped]

    from tests.voice.telegraph import TELEGRAPH
    from voice.proxy import consumer, speech
    from voice.proxy.routing import sockets

    async def load() -> object:
        return TELEGRAPH

    async def lives(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        await send({"type": "http.response.body", "body": b""})  # type: ignore[operator]

    vars(speech)["load"] = load
    vars(consumer)["adapter_of"] = lambda row, parts: Echo()
    application = ProtocolTypeRouter({"http": lives, "websocket": sockets})
    Server(application, build_endpoint_description_strings(host="127.0.0.1", port=port), verbosity=0).run()


class Echo:
    """An agent that sends back what it hears, after its greeting's time."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[object] = asyncio.Queue()
        self._heard_ms = 0

    async def open(self, scenario: object) -> None:
        return

    async def hear(self, audio: bytes) -> None:
        from voice.agents.base import AudioChunk

        self._heard_ms += 20
        if self._heard_ms > ECHO_AFTER_MS:
            self._events.put_nowait(AudioChunk(audio))

    async def events(self) -> AsyncIterator[object]:
        while True:
            yield await self._events.get()

    async def close(self) -> None:
        return


# The browsers.


def measure(folder: Path, calls: int, seconds: float) -> None:
    os.environ |= {
        "ARENA_DATA": str(folder),
        "ARENA_SECRET_KEY": "bench" * 12,
        "DATABASE_URL": f"sqlite:///{folder / 'bench.sqlite3'}",
        "ARENA_KINDS": "robots,voice",
        "ARENA_VOICE_CALLS": str(calls),
    }
    import django

    django.setup()
    import psutil
    from django.core.management import call_command

    from tests.ports import free_port

    call_command("migrate", verbosity=0)
    port = free_port()
    addresses = opened(calls, port)
    with subprocess.Popen([sys.executable, __file__, "--serve", str(port)]) as process:
        try:
            wait_for(port)
            server = psutil.Process(process.pid)
            before, used = server.memory_info().rss, sum(server.cpu_times()[:2])
            heard, most = asyncio.run(held(addresses, seconds, server))
            used = sum(server.cpu_times()[:2]) - used
        finally:
            process.terminate()
    report(heard, (most - before) / calls, used / seconds)


def opened(calls: int, port: int) -> list[str]:
    """The addresses of as many calls, each of a battle of its own."""
    from arena.models import Battle, Session
    from voice import seeding
    from voice.battles import slots, sockets
    from voice.models import VOICE, VoiceAgent

    seeding.seed()
    left, right = VoiceAgent.objects.filter(provider="local")[:2]
    found = []
    for _ in range(calls):
        session = Session.objects.create(kind=VOICE, setting="booking", scene="haircut")
        battle = Battle.objects.create(session=session, seq_in_session=1, seed=1, left_model=left, right_model=right)
        call = slots.open_slot(battle, "a", consent=True, may_publish=False)
        path = sockets.address(call, "127.0.0.1").partition(sockets.PATH)[2]
        found.append(f"ws://127.0.0.1:{port}{sockets.PATH}{path}")
    return found


def wait_for(port: int) -> None:
    for _ in range(1800):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            return
        except URLError:
            time.sleep(0.1)
    raise SystemExit("the process that holds calls did not start")


async def held(addresses: Sequence[str], seconds: float, server: object) -> tuple[list[Heard], int]:
    """What each browser heard, and the most memory [bytes] of the server meanwhile."""
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, server.memory_info().rss)  # type: ignore[attr-defined]
            await asyncio.sleep(0.5)

    watching = asyncio.create_task(watch())
    try:
        return await asyncio.gather(*(call(address, seconds) for address in addresses)), most
    finally:
        watching.cancel()


async def call(address: str, seconds: float) -> Heard:
    from websockets.asyncio.client import connect

    heard = Heard()
    async with connect(address, proxy=None) as socket:
        speaking = asyncio.create_task(speak(socket, seconds))
        async for message in socket:
            if isinstance(message, bytes):
                heard.came.append(time.perf_counter())
            elif (told := json.loads(message))["type"] in ("ended", "error"):
                heard.trouble = "" if told.get("reason") == "caller_hung_up" else str(told)
        await speaking
    return heard


async def speak(socket: object, seconds: float) -> None:
    from voice.speech.audio import samples_in

    began, sent_ms = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        await socket.send(LOUD * samples_in(SENT_MS))  # type: ignore[attr-defined]
        sent_ms += SENT_MS
        await asyncio.sleep(max(0.0, began + sent_ms / 1000 - time.perf_counter()))
    await socket.send(json.dumps({"type": "end"}))  # type: ignore[attr-defined]


def report(heard: Sequence[Heard], memory: float, share: float) -> None:
    late = [each * 1000 for call in heard for each in call.late]
    print(f"{len(heard)} calls at once, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"pieces {len(late)}, late on their clock: {_ms(late)}")
    print(f"gaps in playback: {sum(call.gaps for call in heard)}, troubles: {[c.trouble for c in heard if c.trouble]}")
    print(f"memory per call {memory / 1e6:.1f} MB, processor {share * 100:.0f} % of a core for all calls")


def _ms(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "none"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"p50 {cuts[49]:.1f} ms, p95 {cuts[94]:.1f} ms, p99 {cuts[98]:.1f} ms, most {max(values):.1f} ms"


if __name__ == "__main__":
    main()
