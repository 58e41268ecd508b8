"""What a prompt is about, and in which language: by rules and a small statistical model, without asking anybody."""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext_lazy

CATEGORIES: dict[str, Any] = {
    "code": gettext_lazy("Code"),
    "math": gettext_lazy("Math"),
    "write": gettext_lazy("Write"),
    "plan": gettext_lazy("Plan"),
    "explain": gettext_lazy("Explain"),
    "other": gettext_lazy("Other"),
}
"""In the order in which they are tried."""
LANGUAGES = {
    "ar": "العربية",
    "cs": "Čeština",
    "da": "Dansk",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "en": "English",
    "es": "Español",
    "fi": "Suomi",
    "fr": "Français",
    "he": "עברית",
    "hi": "हिन्दी",
    "hu": "Magyar",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "ro": "Română",
    "ru": "Русский",
    "sv": "Svenska",
    "th": "ไทย",
    "tr": "Türkçe",
    "uk": "Українська",
    "vi": "Tiếng Việt",
    "zh": "中文",
}
"""Those that are told apart, by their own names."""
LEAST_CHANCE = 0.7
"""A language that is less likely is not named."""
MOST_CHARACTERS = 1000
"""Of a prompt that are looked at."""


def _words(text: str) -> str:
    return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in text.split(", "))


_CODE = (
    "python, javascript, typescript, java, c++, c#, rust, golang, sql, html, css, bash, shell script, regex, "
    "regexp, git, docker, kubernetes, linux command, numpy, pandas, django, react, json, yaml, algorithm, code, "
    "programm, compiler, compile, debug, stack trace, traceback, unit test, quelltext, skript, funktion in python, "
    "segfault"
)
_MATH = (
    "calculate, compute, solve, equation, integral, derivative, derive, probability, how likely, percent, theorem, "
    "prove that, proof, matrix, polynomial, how many, how much does, geometry, triangle, berechne, rechne, "
    "gleichung, wahrscheinlich, wahrscheinlichkeit, lösungsformel, ableitung, beweise, wie viele, prozent, dreieck, "
    "calcule, calcula, calculer, ecuación, équation"
)
_WRITE = (
    "write, poem, story, limerick, haiku, essay, e-mail, email, letter, lyrics, song, speech, slogan, headline, "
    "rewrite, rephrase, translate, summarize, summarise, suggest names, suggest five names, novel, dialogue, joke, "
    "schlage, erzähle, schreib, schreibe, schreiben, gedicht, geschichte, brief, aufsatz, rede, witz, übersetze, "
    "fasse zusammen, reime, écris, écrire, poème, histoire, lettre, traduis, escribe, poema, historia, carta, "
    "traduce, scrivi, poesia"
)
_PLAN = (
    "plan, itinerary, schedule, checklist, packing list, trip, travel, recipe, cook, what should i, how do i begin, "
    "how do i start, recommend, tips for, advice, compare, pros and cons, plane, reise, rezept, kochen, koche, wie "
    "fange ich, wie beginne ich, was soll ich, empfiehl, tipps, vergleiche, packliste, recette, conseils, voyage, "
    "receta, consejos, viaje"
)
_EXPLAIN = (
    "explain, why, what is, what are, what does, how does, how do, how is, describe, define, definition, difference "
    "between, meaning of, who was, who is, when did, where is, teach me, tell me about, erkläre, erklär, warum, "
    "wieso, was ist, was sind, wie funktioniert, wie funktionieren, wie wirkt, beschreibe, unterschied zwischen, "
    "wer war, wer ist, pourquoi, explique, comment, qu'est-ce, c'est quoi, por qué, qué es, cómo, perché, cos'è, "
    "spiega"
)
_CODE_SIGNS = r"```|\bdef \w+\(|\bfunction \w+\(|[{;]\s*$|</\w+>|\bimport \w+|\bSELECT\b.+\bFROM\b|==|#include"
_SUMS = r"\d\s*[-+*/^=×÷]\s*\(?\d|\$[^$\n]+\$|\\\(|\\\[|\d[\d.,]*\s*(?:%|km/h)|\d[\d.,]*\s.{0,80}\b(?:cost|kosten?t?)\b"


def _signs(words: str, more: str = "(?!)") -> re.Pattern[str]:
    """`more`: a pattern beside the words; by default one that nothing has."""
    return re.compile(rf"{more}|(?<!\w)(?:{_words(words)})(?!\w)", re.IGNORECASE | re.MULTILINE)


_SIGNS = {
    "code": _signs(_CODE, _CODE_SIGNS),
    "math": _signs(_MATH, _SUMS),
    "write": _signs(_WRITE),
    "plan": _signs(_PLAN),
    "explain": _signs(_EXPLAIN),
}


def category_of(prompt: str) -> str:
    """One of CATEGORIES: the first whose signs the prompt has."""
    looked_at = prompt[:MOST_CHARACTERS]
    return next((name for name, signs in _SIGNS.items() if signs.search(looked_at)), "other")


def language_of(prompt: str) -> str:
    """One of LANGUAGES; "" where the words do not tell."""
    words = " ".join(re.findall(r"[^\W\d_]+", prompt[:MOST_CHARACTERS]))
    if not words:
        return ""
    from texts.identifier import identifier  # workers alone need it: it reads 5 MB

    language, chance = identifier(tuple(sorted(LANGUAGES))).classify(words)
    return str(language) if chance >= LEAST_CHANCE else ""
