"""Cleaning of what visitors write: instructions, unless their kind cleans them otherwise, and reasons of votes."""

from __future__ import annotations

import unicodedata
from typing import Any

from django.conf import settings

from arena.errors import InstructionTooLong, InvalidInstruction, InvalidWhy
from arena.models.feedback import WHY_LENGTH
from arena.words import words

# Control and invisible characters, surrogates, private-use and unassigned code points, line ends.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
JOINERS = {"\u200c", "\u200d"}  # invisible too, but some scripts and emoji cannot be written without them


def clean_instruction(value: Any, most_words: int | None = None, longest: int | None = None) -> str:
    """The text without surrounding blanks. Raises InvalidInstruction for what is no instruction.

    `longest`: the most characters, settings.INSTRUCTION_MAX_LENGTH by default.
    """
    longest = settings.INSTRUCTION_MAX_LENGTH if longest is None else longest
    if not isinstance(value, str):
        raise InvalidInstruction("An instruction is a text.")
    text = value.strip()
    if len(text) > longest:
        raise InstructionTooLong(longest, len(text), "characters")
    if not _is_printable(text):
        raise InvalidInstruction("An instruction is one line of printable characters.")
    if not any(unicodedata.category(character)[0] in "LNS" for character in text):
        raise InvalidInstruction("An instruction needs words.")
    if most_words is not None and (count := len(words(text))) > most_words:
        raise InstructionTooLong(most_words, count, "words")
    return text


def clean_why(value: Any) -> str:
    """A visitor's reason as one line of at most WHY_LENGTH characters; "" for none. Raises InvalidWhy."""
    if not isinstance(value, str):
        raise InvalidWhy(f"`why` is a text of at most {WHY_LENGTH} characters.", longest=WHY_LENGTH)
    text = " ".join(value.split())
    if len(text) > WHY_LENGTH:
        raise InvalidWhy(f"`why` has at most {WHY_LENGTH} characters, this one {len(text)}.", longest=WHY_LENGTH)
    if not _is_printable(text):
        raise InvalidWhy("`why` is a text of printable characters.", longest=WHY_LENGTH)
    return text


def _is_printable(text: str) -> bool:
    return not any(unicodedata.category(character) in UNPRINTABLE and character not in JOINERS for character in text)
