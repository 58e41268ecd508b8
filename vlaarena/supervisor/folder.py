"""The data folder of one arena: its lock, its secrets, its logs, and the addresses of its servers."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

import psutil

from vlaarena.supervisor.logs import set_aside

PRIVATE_FOLDER = 0o700
MARK = "ARENA_CHILD_OF"  # in the environment of every child: the data folder it works on


class FolderBusy(Exception):
    """Another process uses this data folder, or it belongs to another user."""


@dataclass
class Running:
    """What runs on a folder: the process that owns it, its address, and the URLs of the servers that it started."""

    pid: int
    url: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    processes: dict[str, int] = field(default_factory=dict)


@contextlib.contextmanager
def _private_files() -> Iterator[None]:
    """Files that this process and its children create meanwhile are readable by their user only."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


class DataFolder:
    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._state = self.path / "running.json"
        self._lock: IO[str] | None = None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder, or raise FolderBusy naming its owner. The kernel releases the lock when the owner dies."""
        self.path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        with _private_files(), (self.path / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderBusy(self._who_is_busy()) from None
            self._close_to_others()
            try:
                yield
            finally:
                self._state.unlink(missing_ok=True)

    def _close_to_others(self) -> None:
        """Remove other users' permissions, which an earlier version or a copy may have left on files. Files that we may
        not change are protected by the folder's own mode."""
        try:
            self.path.chmod(PRIVATE_FOLDER)
        except PermissionError:
            raise FolderBusy(f"{self.path} belongs to another user: its files cannot be kept private") from None
        for place, _, files in os.walk(self.path):
            for path in (Path(place), *(Path(place, name) for name in files)):
                with contextlib.suppress(FileNotFoundError, PermissionError):
                    mode = path.lstat().st_mode
                    if mode & 0o077 and not stat.S_ISLNK(mode):
                        path.chmod(stat.S_IMODE(mode) & ~0o077)

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
        """What runs on this folder now, or None. A file left by a dead arena is ignored."""
        return self._read_state() if self.is_locked() else None

    def _read_state(self) -> Running | None:
        try:
            return Running(**json.loads(self._state.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def announce(self, running: Running) -> None:
        """Record what runs here, so that other commands find its servers."""
        draft = self._state.with_suffix(".new")
        draft.write_text(json.dumps(asdict(running), indent=1))
        draft.replace(self._state)

    def secret_key(self) -> str:
        return self._kept_secret("secret_key", 48)

    def password(self, server: str) -> str:
        """The password of a bundled server ("valkey", "mongo"), created on first use."""
        return self._kept_secret(f"{server}_password", 32)

    def _kept_secret(self, name: str, length: int) -> str:
        file = self.path / name
        if not file.exists() or not file.read_text().strip():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(length))
        return file.read_text().strip()

    def fresh_log(self, name: str) -> Path:
        """The path for the log of a new start, with the earlier logs rotated."""
        log = self.path / "log" / f"{name}.log"
        log.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        set_aside(log)
        return log

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {**environment, MARK: str(self.path)}

    def end_orphans(self) -> list[int]:
        """Kill the processes that an earlier owner left behind, and return their ids. Call with the lock held."""
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
