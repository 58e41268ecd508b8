"""Numbers in spoken English, as speech recognition writes them: in digits, in words, or one by one."""

from __future__ import annotations

import re

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
UNITS = {word: number for number, word in enumerate(_UNITS.split())}
TENS = {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
ORDINALS = {**{word: number for number, word in enumerate(_ORDINALS.split(), start=1)}, "thirtieth": 30}
WORD = re.compile(r"[a-z]+", re.IGNORECASE)
_TEN = "|".join(TENS)
_UNIT = "|".join(sorted((word for word in UNITS if 0 < UNITS[word] < 10), key=len, reverse=True))
_COMPOUND = re.compile(rf"\b({_TEN})[ -]({_UNIT}|{'|'.join(ORDINALS)})\b", re.IGNORECASE)


def in_digits(text: str) -> str:
    """The text with its numbers up to 99 in digits: "twenty-four" becomes "24", "the fourteenth" becomes "the 14", and
    "$35" becomes "35 dollars"."""
    text = re.sub(r"\$ ?(\d+)", r"\1 dollars", text)
    return WORD.sub(lambda found: _simple(found[0]), _COMPOUND.sub(lambda found: _joined(found[1], found[2]), text))


def _joined(ten: str, unit: str) -> str:
    small = UNITS.get(unit.lower(), ORDINALS.get(unit.lower(), 0))
    return str(TENS[ten.lower()] + small) if small < 10 else f"{TENS[ten.lower()]} {small}"


def _simple(word: str) -> str:
    known = word.lower()
    for numbers in (UNITS, TENS, ORDINALS):
        if known in numbers:
            return str(numbers[known])
    return word
