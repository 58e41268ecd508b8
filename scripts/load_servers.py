"""Scripted servers that `make load` puts in place of language models and voice agents.

Each runs in a process of its own, `load_servers.py KIND`, which prints the server's address and serves until it ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANSWERS_AFTER_BYTES = 64_000
"""A voice agent answers after each two seconds of audio."""
SPOKEN = (3000).to_bytes(2, "little") * 320
"""20 ms, as a provider sends them."""
SPOKEN_FRAMES = 40


@contextmanager
def scripted(kind: str) -> Iterator[str]:
    """The address of a scripted server."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, __file__, kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent, env=environment)
    try:
        yield process.stdout.readline().strip() if process.stdout else ""
    finally:
        process.terminate()
        process.wait()


def serve_text() -> None:
    import django

    django.setup()
    from tests.texts.servers import ScriptedServer

    server = ScriptedServer()
    print(server.url, flush=True)
    server.serve_forever()


async def serve_voice() -> None:
    """Vapi's wire: an agent that greets and then answers whoever speaks."""
    from websockets.asyncio.server import ServerConnection

    from tests.voice.provider import served
    from tests.voice.vapi_server import FakeVapi

    class Answering(FakeVapi):
        async def talk(self, socket: ServerConnection) -> None:
            await say(socket, "Hello, how can I help you?")
            heard = 0
            async for message in socket:
                if isinstance(message, str):
                    return
                heard += len(message)
                if heard >= ANSWERS_AFTER_BYTES:
                    heard = 0
                    await socket.send(_words("user", "I would like to book a haircut."))
                    await say(socket, "Certainly. Which day would you like?")

    async def say(socket: ServerConnection, text: str) -> None:
        await socket.send(_words("assistant", text))
        for _ in range(SPOKEN_FRAMES):
            await socket.send(SPOKEN)

    async with served(Answering(())) as server:
        print(server.address, flush=True)
        await asyncio.Event().wait()


def _words(role: str, text: str) -> str:
    return json.dumps({"type": "transcript", "transcriptType": "final", "role": role, "transcript": text})


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    if sys.argv[1:] == ["voice"]:
        asyncio.run(serve_voice())
    else:
        serve_text()
