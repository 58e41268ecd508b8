"""The servers behind the tests: those named in the environment, or bundled ones on free loopback ports."""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path

import redis
from celery import Celery

from tests.ports import free_port
from vlaarena import bundled

URLS = ("DATABASE_URL", "MONGO_URL", "BROKER_URL", "CHANNEL_URL")
NAMED = "TESTS_NAMED_SERVERS"
"""In the environment of the processes of a run: which of the URLs its caller gave. The others each process chooses."""
WEIGHTS = Path(__file__).resolve().parent.parent / "policies" / "weights"
_named = os.environ.setdefault(NAMED, " ".join(name for name in URLS if os.environ.get(name))).split()
given = {name: os.environ[name] for name in _named}  # what the caller of this run named

_wanted: dict[str, int] = {}
_password = secrets.token_hex(16)
_folder: Path
_running: list[subprocess.Popen[bytes]] = []


def choose_addresses(folder: Path) -> None:
    """Set every URL that the caller did not give to the address of a bundled server that `start` will start."""
    global _folder
    _folder = folder
    if "BROKER_URL" not in given or "CHANNEL_URL" not in given:
        _wanted["valkey"] = free_port()
    if "MONGO_URL" not in given:
        _wanted["mongo"] = free_port()
    addresses = {
        "BROKER_URL": bundled.valkey_url(_wanted.get("valkey", 0), _password, 0),
        "CHANNEL_URL": bundled.valkey_url(_wanted.get("valkey", 0), _password, 1),
        "MONGO_URL": bundled.mongo_url(_wanted.get("mongo", 0), _password),
    }
    os.environ.update({name: url for name, url in addresses.items() if name not in given})


def start() -> None:
    """Start the bundled servers that are wanted, both at once, and wait until they answer."""
    commands = {"valkey": bundled.valkey_command, "mongo": bundled.secantus_command}
    for name, port in _wanted.items():
        with (_folder / f"{name}.log").open("wb") as log:
            command = commands[name](_folder / name, port, _password)
            _running.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    for name, port in _wanted.items():
        if not bundled.wait_for(port):
            raise RuntimeError(f"{name} did not answer: {(_folder / f'{name}.log').read_text()[-2000:]}")


def forget(prefix: str) -> None:
    """Remove what stands under this prefix on a broker and a channel layer that were given; ours end with the run."""
    if url := given.get("BROKER_URL"):
        with Celery(broker=url).connection_for_write() as broker:
            queues = [f"{prefix}default", *(f"{prefix}rollouts.{name}" for name in _played())]
            for queue in queues:
                broker.default_channel.queue_delete(queue)
            if broker.transport.driver_type == "amqp":
                pidbox = f"{prefix}celery.pidbox"
                for exchange in (*queues, pidbox, f"reply.{pidbox}", f"{prefix}celeryev"):
                    broker.default_channel.exchange_delete(exchange)
    for url in {given.get("BROKER_URL", ""), given.get("CHANNEL_URL", "")}:
        if url.startswith("redis"):
            with redis.Redis.from_url(url) as server:
                for key in server.scan_iter(f"*{prefix}*", count=1000):
                    server.delete(key)


def _played() -> list[str]:
    """Policies whose rollouts a whole arena is sent in tests: the shipped ones, the references, and stand-ins."""
    shipped = [path.parent.name for path in WEIGHTS.glob("*/policy.json")]
    return [*shipped, "scripted-expert", "hold-still", "first", "second", "third"]


def stop() -> None:
    for process in reversed(_running):
        process.terminate()
    for process in reversed(_running):
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    _running.clear()
