"""The data folder of one arena: its lock, its secret key, its logs, and where its servers listen."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import psutil

MARK = "ARENA_CHILD_OF"  # in the environment of every child: the data folder it works on


class FolderBusy(Exception):
    """Another process works on this data folder."""


@dataclass
class Running:
    """What runs on a folder: the owner's process, its address, and the URLs of the servers it started."""

    pid: int
    url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._state = self.path / "running.json"
        self._lock: IO[str] | None = None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Own the folder, or raise FolderBusy naming who does. The kernel lets go of the lock when its owner dies."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderBusy(self._who_is_busy()) from None
            try:
                yield
            finally:
                self._state.unlink(missing_ok=True)

    def is_locked(self) -> bool:
        lock = self.path / "lock"
        if not lock.exists():
            return False
        with lock.open("a+") as probe:
            try:
                fcntl.flock(probe, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def _who_is_busy(self) -> str:
        owner = self._read_state()
        who = f"process {owner.pid}, {owner.url or 'not ready yet'}" if owner else "another process"
        return f"the arena already runs on {self.path} ({who}); stop it, or name another folder with ARENA_DATA"

    def running(self) -> Running | None:
        """What runs on this folder now; None when nothing does, whatever an old file says."""
        return self._read_state() if self.is_locked() else None

    def _read_state(self) -> Running | None:
        try:
            return Running(**json.loads(self._state.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def announce(self, running: Running) -> None:
        """Write down what runs here, so that commands typed beside it find its servers."""
        draft = self._state.with_suffix(".new")
        draft.write_text(json.dumps(asdict(running), indent=1))
        draft.replace(self._state)

    def secret_key(self) -> str:
        """The key that signs cookies: made once, readable by its owner only."""
        file = self.path / "secret_key"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(48))
        return file.read_text().strip()

    def fresh_log(self, name: str) -> Path:
        """A new log file; the one of the last start stays beside it with `.1`."""
        log = self.path / "log" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        return log

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, MARK: str(self.path)}

    def end_orphans(self) -> list[int]:
        """Kill what an earlier owner of this folder left behind; answer the process ids. Call with the lock held."""
        orphans = [process for process in psutil.process_iter() if self._is_ours(process)]
        for process in orphans:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(orphans, timeout=5)
        return [process.pid for process in orphans]

    def _is_ours(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return False
        try:
            return bool(process.environ().get(MARK) == str(self.path))
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess, OSError):
            return False
