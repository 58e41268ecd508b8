"""The socket of a call: audio of the microphone in, one stream of audio out, and a few messages in JSON.

From the browser: binary frames of s16le at 16 kHz, mono; `{"type": "say", "text": ...}`, `{"type": "end"}`.
To the browser: binary pieces of the same form; `started`, `resumed`, `said`, `clear`, `ended` and `error`
(docs/voice.md). Nothing of them names an agent or its provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from typing import Any

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings

from simulation.catalogue_rows import CatalogueError
from voice.agents.opening import adapter_of
from voice.battles import slots, sockets
from voice.models import Call, ScenarioRow
from voice.proxy import speech
from voice.proxy.live import LiveCall, Message
from voice.speech.audio import RATE, SAMPLE_BYTES
from voice.speech.parts import SpeechMissing

log = logging.getLogger(__name__)
LONGEST_FRAME = 8192
"""Bytes of audio at once, 256 ms."""
LONGEST_MESSAGE = 4096
"""Characters of a message in JSON."""
BYTES_PER_S = 2 * RATE * SAMPLE_BYTES
"""Twice what a microphone gives."""
BURST_BYTES = 2 * BYTES_PER_S
MOST_WAITING = 100
"""Messages that wait for a browser that does not read; it is disconnected then."""
NOT_FOUND, RUNNING, USED, TOO_LARGE, WRONG, TOO_MUCH, LOST, BUSY = 4404, 4409, 4410, 4413, 4422, 4429, 4500, 4503
DETAILS = {
    NOT_FOUND: ("not_found", "This is no address of a call, or it is too old: ask for another one."),
    RUNNING: ("call_running", "This call is held on another page."),
    USED: ("slot_used", "This agent was called already."),
    TOO_LARGE: (
        "too_large",
        f"A frame of audio has at most {LONGEST_FRAME} bytes, a message {LONGEST_MESSAGE}.",
    ),
    WRONG: ("wrong_audio", "Audio comes as whole samples: 16 kHz, mono, 16 bits, little-endian."),
    TOO_MUCH: ("too_much", f"A call takes at most {BYTES_PER_S} bytes of audio a second."),
    LOST: ("call_lost", "The process that held the call ended. What was said is lost; call this agent once more."),
    BUSY: ("busy", "As many calls as this site can hold are being held. Try again in a minute."),
}
"""Close code -> the code and the sentence of the error before it."""
live: dict[int, LiveCall] = {}
"""The calls of this process, by the key of their slot."""


class CallConsumer(AsyncWebsocketConsumer):
    held: LiveCall | None = None
    writing: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self.outbox: asyncio.Queue[Message] = asyncio.Queue()
        self.allowed, self.at = float(BURST_BYTES), time.monotonic()
        await self.accept()
        ticket = sockets.read(self.scope["url_route"]["kwargs"]["ticket"])
        if ticket is None:
            return await self._refuse(NOT_FOUND)
        known = live.get(ticket.call_id)
        if known is not None and known.call.tries == ticket.tries:
            return await self._refuse(RUNNING) if known.is_attached else self._go_on(known)
        if len(live) >= settings.VOICE["calls"]:
            return await self._refuse(BUSY)
        call = await sync_to_async(slots.claim)(ticket.call_id, ticket.tries)
        if call is None:
            lost = known is None and await sync_to_async(slots.release)(ticket.call_id, ticket.tries)
            return await self._refuse(LOST if lost else USED)
        await self._begin(call)
        return None

    async def _begin(self, call: Call) -> None:
        try:
            held = await _opened(call)
        except (SpeechMissing, CatalogueError, ValueError) as trouble:
            log.exception("call %s cannot be opened", call.pk)
            await sync_to_async(slots.fail)(call, str(trouble))
            return await self._refuse(BUSY)
        live[call.pk] = self.held = held
        self.writing = asyncio.create_task(self._write())
        held.start(self._put)
        return None

    def _go_on(self, held: LiveCall) -> None:
        self.held = held
        self.writing = asyncio.create_task(self._write())
        held.resume(self._put)

    def _put(self, message: Message) -> None:
        if self.outbox.qsize() < MOST_WAITING:
            self.outbox.put_nowait(message)

    async def _write(self) -> None:
        while True:
            message = await self.outbox.get()
            if isinstance(message, bytes):
                await self.send(bytes_data=message)
                continue
            await self.send(text_data=json.dumps(message))
            if message["type"] == "ended":
                await self.close()
                return

    async def _refuse(self, code: int) -> None:
        name, detail = DETAILS[code]
        await self.send(text_data=json.dumps({"type": "error", "code": name, "detail": detail}))
        await self.close(code=code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        if self.held is None:
            return
        wrong = self._trouble_with(text_data, bytes_data)
        if wrong is not None:
            log.warning("a call was disconnected: %s", DETAILS[wrong][0])
            await self._refuse(wrong)
        elif bytes_data:
            self.held.browser.take(bytes_data)
        elif text_data:
            self._obey(text_data)

    def _trouble_with(self, text: str | None, audio: bytes | None) -> int | None:
        if len(audio or b"") > LONGEST_FRAME or len(text or "") > LONGEST_MESSAGE:
            return TOO_LARGE
        if audio is not None and len(audio) % SAMPLE_BYTES:
            return WRONG
        now = time.monotonic()
        self.allowed = min(BURST_BYTES, self.allowed + (now - self.at) * BYTES_PER_S) - len(audio or text or "")
        self.at = now
        return TOO_MUCH if self.allowed < 0 else None

    def _obey(self, text: str) -> None:
        """Unknown messages are ignored."""
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        match message:
            case {"type": "end"} if self.held:
                self.held.hang_up()
            case {"type": "say", "text": str(words)} if self.held and words.strip():
                self.held.type(words)

    async def disconnect(self, code: int) -> None:
        if self.held is not None:
            self.held.detach()
        if self.writing is not None and self.writing is not asyncio.current_task():
            self.writing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.writing


async def _opened(call: Call) -> LiveCall:
    """Raises SpeechMissing, CatalogueError and ValueError."""
    agent = getattr(call.battle, f"{call.side}_model")
    row = await sync_to_async(lambda: agent.voiceagent)()
    scenario = (await ScenarioRow.objects.aget(pk=call.battle.session.scene)).read()
    parts = await speech.load()

    def done() -> None:
        live.pop(call.pk, None)

    return LiveCall(call, scenario, adapter_of(row, parts), parts, done)
