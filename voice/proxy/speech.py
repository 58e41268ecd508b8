"""The models of speech in the process that holds calls: loaded once, and at its start, so that no visitor waits."""

from __future__ import annotations

import asyncio

from voice.speech.models import load_speech
from voice.speech.parts import Speech


async def load() -> Speech:
    """Raises SpeechMissing."""
    return await asyncio.to_thread(load_speech)
