"""Answers that tell who wrote them. The visitor then knows, and the vote is no blind one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from texts.models import LanguageModel

_BRANDS = (
    "alibaba anthropic baichuan bard bloom chatgpt chatglm claude codestral cohere command-r copilot dbrx deepmind "
    "deepseek dolly ernie falcon gemini gemma glm gpt granite grok hermes huggingface hunyuan jamba kimi llama mimo "
    "minimax ministral mistral mixtral moonshot nemotron olmo openai openchat perplexity phi qwen qwq smollm "
    "stablelm starling tulu vicuna wizardlm xai yi zephyr"
)
BRANDS = frozenset(_BRANDS.split())
"""Names of models and their makers, as letters in front of numbers and sizes."""
MAKERS = (
    r"OpenAI|Anthropic|Google(?:\s+DeepMind)?|DeepMind|Meta(?:\s+AI)?|Microsoft|Mistral(?:\s+AI)?|Alibaba(?:\s+Cloud)?|"
    r"DeepSeek|Cohere|xAI|NVIDIA|IBM|Amazon|Apple|Baidu|Tencent|ByteDance|Zhipu(?:\s+AI)?|Moonshot(?:\s+AI)?|"
    r"Hugging\s?Face|Allen\s+(?:AI|Institute)|AI2|01\.AI|Stability(?:\s+AI)?|Databricks|Perplexity"
)
FIRST_PERSON = (
    r"\b(?:I\s+am|I['\u2019]m|I\s+was|as\s+an?\s+(?:AI|(?:large\s+)?language\s+model)|ich\s+bin|ich\s+wurde)\b"
)
MADE = r"\b(?:developed|created|trained|made|built|designed|entwickelt|trainiert|erstellt)\b"
NEAR = r"[^.!?\n]{0,80}"
SELF = re.compile(
    rf"{FIRST_PERSON}{NEAR}{MADE}{NEAR}\b(?:{MAKERS})\b|{FIRST_PERSON}{NEAR}\bvon\s+(?:{MAKERS})\b{NEAR}{MADE}",
    re.IGNORECASE,
)
CALLED = re.compile(
    rf"\b(?:I\s+am|I['\u2019]m|my\s+name\s+is|ich\s+bin|ich\s+hei(?:\u00df|ss)e|mein\s+name\s+ist)\s+"
    rf"(?:{'|'.join(sorted(map(re.escape, BRANDS), key=len, reverse=True))})(?![a-z])",
    re.IGNORECASE,
)
WORD = re.compile(r"[a-z]+")
SHORTEST = 4
"""Letters of a name that is looked for anywhere: shorter ones are words of other meanings."""


def names_itself(answer: str, prompt: str, models: Iterable[LanguageModel]) -> bool:
    """Whether the answer says which model or whose it is: by a sentence about itself, or by the name of a contestant or
    its maker that the prompt does not have."""
    if SELF.search(answer) or CALLED.search(answer):
        return True
    names = names_of(models)
    return bool(_named(answer, names) - _named(prompt, names))


def names_of(models: Iterable[LanguageModel]) -> frozenset[str]:
    """What the models and their makers are called, in lower case: whole names, and the brands in them."""
    names: set[str] = set()
    for model in models:
        names |= {model.name.lower(), model.organization.lower()}
        names |= {model.served_name.lower()} if re.search(r"\d", model.served_name) else set()  # others are plain words
        told = " ".join((model.name, model.organization, model.served_name, model.family)).lower()
        names |= {brand for brand in BRANDS if brand in WORD.findall(told)}
    return frozenset(name for name in names if len(name) >= SHORTEST and not name.isdigit())


def _named(text: str, names: Iterable[str]) -> set[str]:
    """Which of the names, in lower case, the text has."""
    lower = text.lower()  # a name may come with a number: "Qwen2.5"
    return {name for name in names if re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", lower)}
