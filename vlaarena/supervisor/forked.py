"""The supervisor's end of the loader (`vlaarena.supervisor.loader`), and the processes that it forks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.loader import MOST_BYTES, Order


class PlayedKind(Protocol):
    """What of a kind (`arena.kinds.Kind`) decides which parts there are."""

    @property
    def id(self) -> str: ...
    @property
    def waits(self) -> bool: ...


@dataclass(frozen=True)
class OfferedKind:
    """A kind as the loader tells it."""

    id: str
    waits: bool


class LoaderGone(Exception):
    """The loader ended before it had forked what was ordered."""


class Forked:
    """A process that the loader has forked, as `asyncio.subprocess.Process`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._ended)

    def terminate(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGTERM)

    def end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)


class Loader(Child):
    """The loader as a child of the supervisor. When it ends, the kernel ends all that it has forked."""

    def __init__(self, spec: ChildSpec, *, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        super().__init__(spec, environment=environment, folder=folder, log=log)
        self._alone = spec
        self._ready = asyncio.Event()
        self._turn = asyncio.Lock()
        self._orders: socket.socket | None = None
        self._answer: asyncio.Future[int] | None = None
        self._forked: dict[int, Forked] = {}
        self._kinds: list[OfferedKind] = []

    async def start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        numbers = [str(number) for number in (theirs.fileno(), *self._alone.sockets)]
        self.spec = replace(
            self._alone, command=[*self._alone.command, *numbers], sockets=(theirs.fileno(), *self._alone.sockets)
        )
        with theirs:
            await super().start()
        self._orders = ours
        asyncio.get_running_loop().add_reader(ours, self._hear)

    async def wait(self) -> int:
        code = await super().wait()
        self._forget()
        return code

    async def kinds(self) -> list[OfferedKind]:
        """Those that the site offers. Waits until the loader is ready."""
        await self._ready.wait()
        return self._kinds

    async def fork(self, spec: ChildSpec, output: int) -> Forked:
        """Waits for the loader where it is not ready, or is started again."""
        order = Order([*spec.command], spec.niceness, dict(spec.environment), [*spec.sockets])
        while True:
            await self._ready.wait()
            with contextlib.suppress(LoaderGone):
                async with self._turn:
                    return await self._ordered(order, output)

    async def _ordered(self, order: Order, output: int) -> Forked:
        if self._orders is None:
            raise LoaderGone
        self._answer = asyncio.get_running_loop().create_future()
        try:
            socket.send_fds(self._orders, [order.packed()], [output])
        except OSError as error:
            self._ready.clear()
            raise LoaderGone from error
        return self._forked[await self._answer]

    def _hear(self) -> None:
        if self._orders is None:
            return
        try:
            content = self._orders.recv(MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            content = b""
        if content:
            self._learn(json.loads(content))
        else:
            self._forget()

    def _learn(self, told: Mapping[str, Any]) -> None:
        if "started" in told:
            self._forked[told["started"]] = Forked(told["started"])
            if self._answer and not self._answer.done():
                self._answer.set_result(told["started"])
        elif "ended" in told:
            self._forked.pop(told["ended"]).end(os.waitstatus_to_exitcode(told["status"]))
        else:
            self._kinds = [OfferedKind(*kind) for kind in told["kinds"]]
            self._ready.set()

    def _forget(self) -> None:
        """The loader has ended, and with it all that it has forked."""
        self._ready.clear()
        if self._orders is not None:
            asyncio.get_running_loop().remove_reader(self._orders)
            self._orders.close()
            self._orders = None
        if self._answer and not self._answer.done():
            self._answer.set_exception(LoaderGone())
        for process in self._forked.values():
            process.end(-signal.SIGKILL)
        self._forked.clear()
