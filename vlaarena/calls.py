"""The ASGI application of the process that holds calls: `daphne vlaarena.calls:application`.

It answers sockets of calls, and GET with 200 for whoever asks whether it lives. It runs in one process: a call is held
where it began.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import django
from channels.routing import ProtocolTypeRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
django.setup(set_prefix=False)

from vlaarena.production import refuse_built_in_secret  # noqa: E402
from voice.proxy.routing import sockets  # noqa: E402
from voice.speech.models import load_speech  # noqa: E402

refuse_built_in_secret()  # tickets are signed with it


async def lives(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Answers every request."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": b"calls are held here\n"})


application = ProtocolTypeRouter({"http": lives, "websocket": sockets})
threading.Thread(target=load_speech, name="loads speech", daemon=True).start()
