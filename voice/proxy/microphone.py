"""A visitor's browser as the caller of a call: a jitter buffer in, pieces of one length out.

Both directions run on the clock of the call's frames. What the browser gets is one stream that never stops, silence
included, in pieces of `PIECE_MS`: neither its codec, nor its rate, nor the size or the times of its pieces depend on
who answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from voice.calls.caller import Noted, Said
from voice.speech.audio import FRAME_BYTES, FRAME_MS, RATE, SAMPLE_BYTES, SILENT_FRAME, frames_of

PIECE_MS = 100
"""What is sent to the browser at once."""
PIECE_BYTES = RATE * PIECE_MS // 1000 * SAMPLE_BYTES
WAITS_FOR = 3
"""Frames that are there before the microphone is played (on) after a gap: browsers send unevenly."""
MOST_WAITING = 50
"""Frames of the microphone that may wait; of more the oldest are dropped, so that nobody is heard late."""
LOUD = 500
"""The peak (of 32767) from which a frame counts as speech for the limit of silence. No figure rests on it."""
SILENT_FOR_MS = 60_000.0
"""How long neither side may be heard."""
GONE_FOR_MS = 10_000.0
"""How long the connection may be lost."""


class Browser:
    """A `Caller`. `send` takes each piece for the browser; there is none while the connection is lost."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._rest = b""
        self._waiting: deque[bytes] = deque()
        self._typed: deque[bytes] = deque()
        self._filling = True
        self._piece = bytearray()
        self._clock_ms = self._agent_at_ms = self._began_ms = 0.0
        self._gone_since_ms: float | None = None
        self.spoke_at_ms = 0.0
        self.said: list[Said] = []
        self.heard: list[Noted] = []
        self.hung_up = ""

    @property
    def clock_ms(self) -> float:
        return self._clock_ms

    def take(self, audio: bytes) -> None:
        """What the microphone gave (s16le)."""
        self._rest += audio
        whole = len(self._rest) // FRAME_BYTES * FRAME_BYTES
        self._waiting.extend(self._rest[at : at + FRAME_BYTES] for at in range(0, whole, FRAME_BYTES))
        self._rest = self._rest[whole:]
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popleft()

    def type(self, audio: bytes) -> None:
        """Typed words, spoken by a voice: they are heard in place of the microphone."""
        self._typed.extend(frames_of(audio))

    def understood(self, text: str) -> None:
        """The agent has taken a turn of the caller."""
        self.said.append(Said(text, min(self._began_ms, self.spoke_at_ms), self.spoke_at_ms))

    def leave(self) -> None:
        """The connection is lost: whoever comes back in time goes on."""
        self._gone_since_ms = self._clock_ms

    def come_back(self) -> None:
        self._gone_since_ms = None
        self._waiting.clear()
        self._rest, self._filling = b"", True

    def next_frame(self) -> bytes:
        self._clock_ms += FRAME_MS
        frame = self._typed.popleft() if self._typed else self._from_microphone()
        if np.abs(np.frombuffer(frame, "<i2").astype(np.int32)).max() >= LOUD:
            if self._clock_ms - self.spoke_at_ms > 1000:
                self._began_ms = self._clock_ms - FRAME_MS
            self.spoke_at_ms = self._clock_ms
        return frame

    def _from_microphone(self) -> bytes:
        if self._filling and len(self._waiting) < WAITS_FOR:
            return SILENT_FRAME
        self._filling = not self._waiting
        return self._waiting.popleft() if self._waiting else SILENT_FRAME

    def hear(self, frame: bytes) -> None:
        if frame != SILENT_FRAME:
            self._agent_at_ms = self._clock_ms
        self._piece += frame
        if len(self._piece) >= PIECE_BYTES:
            self._send(bytes(self._piece))
            self._piece.clear()
        if self._gone_since_ms is not None and self._clock_ms - self._gone_since_ms >= GONE_FOR_MS:
            self.hung_up = self.hung_up or "caller_gone"
        elif self._clock_ms - max(self._agent_at_ms, self.spoke_at_ms) >= SILENT_FOR_MS:
            self.hung_up = self.hung_up or "caller_silent"

    async def close(self) -> None:
        return
