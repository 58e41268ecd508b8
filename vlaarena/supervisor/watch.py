"""Starts the children in order, restarts those that die, and stops them in reverse order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from vlaarena import bundled
from vlaarena.supervisor.child import DEATHS_ALLOWED, DEATHS_WINDOW_S, Child, ChildSpec
from vlaarena.supervisor.folder import DataFolder, Running
from vlaarena.supervisor.forked import Loader, OfferedKind, PlayedKind
from vlaarena.supervisor.room import has_room

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PORT_WITHIN_S = 60.0
READY_WITHIN_S = 300.0  # for slow machines; a part that dies is noticed sooner
RESTART_PAUSE_S = 0.3
LONGEST_PAUSE_S = 15.0  # between two starts while a disk is full
LOOK_FOR_ROOM_S = 1.0
WRITE_AGAIN_S = 5.0
ASK_FOR_KINDS = (
    "import json; from vlaarena.supervisor import loader; loader.load(); print(json.dumps(loader.offered()))"
)


class SupervisorError(Exception):
    """The arena could not start or go on. The message is shown to the user."""


class Supervisor:
    """Owns the children of one arena. `say` reports progress to people, `tell_ready` that the arena is ready."""

    def __init__(
        self,
        folder: DataFolder,
        base: Path,
        environment: dict[str, str],
        running: Running,
        *,
        say: Callable[[str], None],
        tell_ready: Callable[[Running], None],
    ) -> None:
        self._folder = folder
        self._base = base
        self._environment = environment
        self._running = running
        self._say = say
        self._tell_ready = tell_ready
        self._children: list[Child] = []
        self._loader: Loader | None = None
        self._announced = True

    async def run(
        self,
        *,
        servers: Sequence[ChildSpec],
        prepare: ChildSpec,
        parts: Callable[[Sequence[PlayedKind]], Sequence[ChildSpec]],
        health_host: str,
        loader: ChildSpec | None = None,
    ) -> None:
        """Start the servers, run `prepare` to its end, start the parts, and keep all alive until a stop signal.

        `parts`: by the kinds that the site offers. `health_host`: one of the site's names. `loader`: forks those that
        may be forked. Raises SupervisorError if a part cannot be started or kept alive.
        """
        life = asyncio.create_task(self._live(servers, loader, prepare, parts, health_host))
        for number in STOP_SIGNALS:
            asyncio.get_running_loop().add_signal_handler(number, life.cancel)
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await life
        finally:
            for number in STOP_SIGNALS:
                asyncio.get_running_loop().add_signal_handler(number, self._kill_all)
            await self._stop_all()

    async def _live(
        self,
        servers: Sequence[ChildSpec],
        loader: ChildSpec | None,
        prepare: ChildSpec,
        parts: Callable[[Sequence[PlayedKind]], Sequence[ChildSpec]],
        health_host: str,
    ) -> None:
        try:
            async with asyncio.TaskGroup() as keepers:  # when one fails, all others are cancelled
                keepers.create_task(self._keep_announced())
                for spec in servers:
                    keepers.create_task(self._keep_alive(await self._start(spec)))
                for spec in servers:
                    await self._wait_for_port(spec)
                if loader:
                    keepers.create_task(self._keep_alive(await self._start_loader(loader)))
                await self._prepare(prepare)
                for spec in parts(await self._offered()):
                    keepers.create_task(self._keep_alive(await self._start(spec)))
                await self._wait_for_health(health_host)
                self._tell_ready(self._running)
        except* SupervisorError as failures:
            raise failures.exceptions[0] from None

    async def _offered(self) -> Sequence[PlayedKind]:
        """The kinds as the parts see them: with the servers' addresses in the environment."""
        if self._loader:
            return await self._loader.kinds()
        asked = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ASK_FOR_KINDS),
            env=self._environment,
            cwd=self._base,
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await asked.communicate()
        return [OfferedKind(*kind) for kind in json.loads(told)]

    async def _start(self, spec: ChildSpec) -> Child:
        log, loader = self._folder.fresh_log(spec.name), self._loader if spec.forked else None
        return await self._started(
            Child(spec, environment=self._environment, folder=self._base, log=log, loader=loader)
        )

    async def _start_loader(self, spec: ChildSpec) -> Loader:
        log = self._folder.fresh_log(spec.name)
        self._loader = Loader(spec, environment=self._environment, folder=self._base, log=log)
        await self._started(self._loader)
        return self._loader

    async def _started(self, child: Child) -> Child:
        self._say(f"starting {child.spec.name}")
        child.on_warning = lambda name, line: self._say(f"{name} | {line}")
        self._children.append(child)
        await child.start()
        self._announce()
        return child

    async def _keep_alive(self, child: Child) -> None:
        """Restart a child whenever it ends, until it dies too often. Deaths on a full disk do not count."""
        in_vain = 0
        while True:
            code = await child.wait()
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
            full = not has_room(self._folder.path)
            if full or child.found_no_room:
                in_vain = 1 if child.alive_s > DEATHS_WINDOW_S else in_vain + 1
                await self._wait_for_room(f"{child.spec.name} {how}", full, in_vain)
            elif child.died_too_often():
                often = f"{child.spec.name} {how}, death {DEATHS_ALLOWED} within {DEATHS_WINDOW_S:.0f} s"
                raise SupervisorError(f"{often}. Its last lines:\n{_indented(child.last_lines)}")
            else:
                self._say(f"{child.spec.name} {how}; starting it again")
                await asyncio.sleep(RESTART_PAUSE_S)
            await child.start()
            self._announce()

    async def _wait_for_room(self, what_ended: str, full: bool, in_vain: int) -> None:
        """Pause before a restart, longer after each of `in_vain` deaths in a row, and until there is room at most.

        `full`: the data folder's disk is full. Otherwise the disk is another one, whose room cannot be seen from here.
        """
        pause = min(LONGEST_PAUSE_S, RESTART_PAUSE_S * 2**in_vain)
        where = f"the disk of {self._folder.path} is full" if full else "it found a disk full"
        self._say(
            f"{what_ended}: {where}; starting it again {'when there is room, or ' if full else ''}in {pause:.1f} s"
        )
        until = time.monotonic() + pause
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, LOOK_FOR_ROOM_S))
            if full and has_room(self._folder.path):
                return

    def _announce(self) -> None:
        self._running.processes = {child.spec.name: child.pid for child in self._children if child.pid}
        try:
            self._folder.announce(self._running)
        except OSError as error:  # a full disk: the arena goes on, but other commands miss the newest parts
            if self._announced:
                self._say(f"cannot write down what runs here: {error}")
            self._announced = False
        else:
            self._announced = True

    async def _keep_announced(self) -> None:
        while True:
            await asyncio.sleep(WRITE_AGAIN_S)
            if not self._announced:
                self._announce()

    async def _wait_for_port(self, spec: ChildSpec) -> None:
        for _ in range(int(PORT_WITHIN_S / 0.05)):
            if spec.port is None or bundled.answers(spec.port):
                return
            await asyncio.sleep(0.05)
        raise SupervisorError(f"{spec.name} does not answer on port {spec.port} after {PORT_WITHIN_S:.0f} s")

    async def _prepare(self, spec: ChildSpec) -> None:
        child = await self._start(spec)
        code = await child.wait()
        self._children.remove(child)
        if code:
            raise SupervisorError(f"preparing the database failed:\n{_indented(child.last_lines)}")

    async def _wait_for_health(self, host: str) -> None:
        url, down = f"{self._running.url}api/health", ""
        for _ in range(int(READY_WITHIN_S / 0.2)):
            down = await asyncio.to_thread(_down_parts, url, host)
            if not down:
                return
            await asyncio.sleep(0.2)
        raise SupervisorError(f"not ready after {READY_WITHIN_S:.0f} s; down: {down}. See {self._folder.path / 'log'}")

    async def _stop_all(self) -> None:
        """Stop in reverse order, one at a time: each part may still need those below it to finish its work."""
        for child in reversed(self._children):
            self._say(f"stopping {child.spec.name}")
            await child.stop()

    def _kill_all(self) -> None:
        """The answer to a second signal while stopping."""
        for child in self._children:
            child.kill()


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"  {line}" for line in lines)


def _down_parts(url: str, host: str) -> str:
    """The parts that are down, comma-separated; "" if all answer."""
    request = urllib.request.Request(url, headers={"Host": host})  # noqa: S310 - our own address
    try:
        with urllib.request.urlopen(request, timeout=5):  # noqa: S310
            return ""
    except urllib.error.HTTPError as error:
        if error.code != 503:
            return f"the web server (it answers {error.code})"
        parts = json.loads(error.read())["parts"]
        return ", ".join(f"{name} ({part['detail']})" for name, part in parts.items() if part["status"] != "ok")
    except OSError:
        return "the web server"
