"""Starts the bundled MongoDB-compatible server with password authentication: `python -I episode_server.py FOLDER PORT`.

The server can create users only while authentication is off. To keep others out meanwhile, the first start requires a
client certificate that only this process has, creates the user, and stops; later starts skip this step. The script is
run by path and imports nothing of the project. The password is in the file `password` of the folder.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pymongo import MongoClient

USER = "arena"
STARTS_WITHIN_S, STOPS_WITHIN_S = 60.0, 10.0
LAUNCHER = Path(__file__).parent / "supervisor" / "launch.py"


def main(folder: Path, port: int) -> None:
    password = (folder / "password").read_text()
    entered, digest = folder / "password_entered", hashlib.sha256(password.encode()).hexdigest()
    if not entered.exists() or entered.read_text() != digest:
        _create_user(folder, password)
        entered.write_text(digest)
    command = _command(folder, port, "--auth")
    os.execv(command[0], command)  # noqa: S606 - the server replaces this process


def _command(folder: Path, port: int, *more: str) -> list[str]:
    config = folder / "secantusd.toml"  # empty, so that the server reads no other file
    config.touch()
    beside_python = Path(sys.executable).parent / "secantusd-py"
    program = str(beside_python) if beside_python.exists() else shutil.which("secantusd-py")
    if program is None:
        sys.exit("secantusd-py is missing")
    return [
        program,
        *("--config", str(config)),
        *("--host", "127.0.0.1"),
        *("--port", str(port)),
        *("--storage-path", str(folder / "data")),
        *("--cache-size", "128M"),
        *("--log-level", "WARNING"),
        *more,
    ]


def _create_user(folder: Path, password: str) -> None:
    """Replace all users by USER with this password."""
    from pymongo import MongoClient

    with tempfile.TemporaryDirectory() as made:
        key = _certificate(Path(made) / "key.pem")
        with (
            _started(folder, key) as (server, port),
            MongoClient[dict[str, object]](
                f"mongodb://127.0.0.1:{port}",
                tls=True,
                tlsCAFile=key,
                tlsCertificateKeyFile=key,
                serverSelectionTimeoutMS=500,
            ) as client,
        ):
            _wait_for(client, server)
            for user in client.admin.command("usersInfo", 1)["users"]:
                client.admin.command("dropUser", user["user"])
            client.admin.command("createUser", USER, pwd=password, roles=["root"])


@contextlib.contextmanager
def _started(folder: Path, key: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server that accepts only clients with the certificate, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    guarded = ("--tls-cert-file", key, "--tls-key-file", key, "--tls-ca-file", key, "--tls-require-client-cert")
    launched = [sys.executable, "-I", str(LAUNCHER), str(os.getpid()), "0", *_command(folder, port, *guarded)]
    server = subprocess.Popen(launched)
    try:
        yield server, port
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(STOPS_WITHIN_S)
    finally:
        server.kill()
        server.wait()


def _wait_for(client: MongoClient[dict[str, object]], server: subprocess.Popen[bytes]) -> None:
    from pymongo.errors import ServerSelectionTimeoutError

    deadline = time.monotonic() + STARTS_WITHIN_S
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(ServerSelectionTimeoutError):
            client.admin.command("ping")
            return
    sys.exit("the episode store did not start to take its password")


def _certificate(path: Path) -> str:
    """Write a key and its self-signed certificate for 127.0.0.1, valid for an hour, for server and client."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "arena")])
    now = datetime.datetime.now(datetime.UTC)
    hour = datetime.timedelta(hours=1)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    authority = x509.BasicConstraints(ca=True, path_length=None)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - hour, now + hour)
    certificate = (
        builder.add_extension(address, critical=False)
        .add_extension(authority, critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.touch(mode=0o600)
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    return str(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
